import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, mountForTest, type ManualClock, type TestMount } from '@strongroom/engine-testkit';
import { Outside, testEngine } from '../../test-engine.ts';

interface Intent {
  id: string;
  attempts: number;
  last_error: { message: string } | null;
  leaves: object | null;
}

describe('what an operator does about work that fails', () => {
  let outside: Outside;
  let clock: ManualClock;
  let hooks: NonNullable<Parameters<typeof testEngine>[1]>;
  let mount: TestMount;
  let token: string;

  const intents = async (): Promise<Intent[]> => ((await mount.call('read', 'sys/journal')).data as { intents: Intent[] }).intents;

  beforeEach(async () => {
    outside = new Outside();
    clock = manualClock();
    hooks = {};
    mount = await mountForTest(testEngine(outside, hooks), { path: 'acc', clock });
    await mount.write('roles/r', { ttl: '1h' });
    await mount.call('update', 'sys/policies/acl/p', {
      data: { policy: 'path "sys/*" { capabilities = ["create", "read", "update", "delete"] }' },
    });
    token = (await mount.call('update', 'auth/token/create', { data: { policies: ['p'] } })).auth!.client_token;
  });
  afterEach(async () => mount.close());

  describe('an unfinished change', () => {
    let id: string;

    beforeEach(async () => {
      hooks.afterCreate = async () => {
        throw new Error('lost');
      };
      await mount.call('update', 'acc/accounts/half');
      outside.failing.add('one');
      ({ id } = (await intents())[0]!);
    });

    test('says what may exist outside as long as it is open', async () => {
      const leaves = { kind: 'account', name: 'half', system: 'one', detail: 'it was being made', journal_id: id };
      expect(await intents()).toMatchObject([{ id, leaves }]);
      expect((await mount.call('read', `sys/journal/${id}`)).data).toMatchObject({ id, mount: 'acc/', kind: 'create-account', leaves });
      expect((await mount.call('read', 'sys/journal/nope')).status).toBe(404);
    });

    test('that may still be under way is neither retried nor forgotten', async () => {
      for (const [operation, at] of [
        ['update', `sys/journal/${id}/retry`],
        ['delete', `sys/journal/${id}`],
      ] as const) {
        const refused = await mount.call(operation, at);
        expect([refused.status, refused.errors]).toEqual([
          400,
          ['the change may still be under way; unless it is completed, it is undone at 2030-01-01T00:02:00.000Z'],
        ]);
      }
      expect(await intents()).toHaveLength(1);
    });

    test('is retried at once when asked, also while the circuit breaker of its outside system is open; a failure is answered with its reason', async () => {
      await mount.advance('10m');
      const failed = await mount.call('update', `sys/journal/${id}/retry`);
      expect([failed.status, failed.errors![0]]).toEqual([
        500,
        expect.stringContaining('the change (create-account) could not be undone: one is down'),
      ]);
      outside.failing.clear();
      expect((await mount.call('update', `sys/journal/${id}/retry`)).status).toBe(204);
      expect(await intents()).toEqual([]);
      expect(outside.users.size).toBe(0);
      expect((await mount.call('update', `sys/journal/${id}/retry`)).status).toBe(404);
    });

    test('is forgotten when asked with sudo, and the answer names what may be left outside', async () => {
      await mount.advance('3m');
      expect((await mount.call('delete', `sys/journal/${id}`, { token })).status).toBe(403);
      expect((await mount.call('update', `sys/journal/${id}/retry`, { token })).status).toBe(403);
      const answer = await mount.call('delete', `sys/journal/${id}`);
      expect(answer).toMatchObject({
        status: 200,
        data: { left_outside: [{ kind: 'account', name: 'half', system: 'one', journal_id: id }] },
        warnings: ['1 thing stays outside, and the server no longer looks after it: account half (one)'],
      });
      outside.failing.clear();
      await mount.advance('1d');
      expect(await intents()).toEqual([]);
      expect([...outside.users]).toEqual(['half']);
    });

    test('is forgotten one by one', async () => {
      await mount.call('update', 'acc/accounts/other');
      await mount.advance('3m');
      await mount.call('delete', `sys/journal/${id}`);
      expect(await intents()).toHaveLength(1);
    });
  });

  describe('a job', () => {
    test('is run at once when asked, instead of at its next attempt', async () => {
      await mount.write('ticks/a', { after: '1s' });
      outside.failing.add('one');
      await mount.advance('30m');
      outside.failing.clear();
      const before = outside.count('tick a');
      expect((await mount.call('update', 'sys/schedule/retry', { data: { mount: 'acc', kind: 'tick', id: 'a' } })).status).toBe(204);
      await mount.core.settleSchedule();
      expect(outside.count('tick a')).toBe(before + 1);
    });

    test('that is not there is a 404, a mount that is not there a 400 that names the field', async () => {
      expect((await mount.call('update', 'sys/schedule/retry', { data: { mount: 'acc', kind: 'tick', id: 'b' } })).status).toBe(404);
      const refused = await mount.call('update', 'sys/schedule/retry', { data: { mount: 'nope', kind: 'tick', id: 'a' } });
      expect([refused.status, refused.errors]).toEqual([400, ['mount: nothing is mounted at "nope/"']]);
    });
  });

  describe('irrevocable leases', () => {
    const count = async (): Promise<number> =>
      ((await mount.call('read', 'sys/leases/count', { data: { type: 'irrevocable' } })).data as { lease_count: number }).lease_count;
    let leaseIds: string[];

    beforeEach(async () => {
      leaseIds = [(await mount.read('creds/r')).leaseId, (await mount.read('creds/r')).leaseId];
      outside.failing.add('one');
      await mount.advance('3h');
      expect(await count()).toBe(2);
      outside.failing.clear();
    });

    test('are all tried again at once below a path when asked', async () => {
      expect((await mount.call('update', 'sys/leases/requeue/other')).data).toEqual({ requeued: 0 });
      expect((await mount.call('update', 'sys/leases/requeue/acc/creds')).data).toEqual({ requeued: 2 });
      await mount.core.settleSchedule();
      await mount.advance('1m');
      expect(await count()).toBe(0);
      expect(outside.users.size).toBe(0);
    });

    test('are dropped one by one by revoke-force with the path of one lease, which answers what is left', async () => {
      outside.failing.add('one');
      const [first, second] = leaseIds as [string, string];
      const answer = await mount.call('update', `sys/leases/revoke-force/${first}`);
      expect(answer.data).toEqual({ left_outside: [{ kind: 'account', name: 'u1', system: 'one', lease_id: first }] });
      expect(answer.warnings).toEqual(['1 thing stays outside, and the server no longer looks after it: account u1 (one)']);
      expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: second } })).status).toBe(200);
      expect(await count()).toBe(1);
    });

    test('that can be taken back after all are taken back by revoke-force, which answers 204', async () => {
      expect((await mount.call('update', 'sys/leases/revoke-force/acc')).status).toBe(204);
      expect(outside.users.size).toBe(0);
    });
  });
});
