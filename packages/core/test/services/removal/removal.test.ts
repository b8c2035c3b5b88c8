import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { f, issue, path, UpstreamFailed, type EnginePackage, type IssuedAuth } from '@strongroom/engine-sdk';
import {
  manualClock,
  mountForTest,
  sharedMemory,
  type CuttableStorage,
  type ManualClock,
  type TestMount,
} from '@strongroom/engine-testkit';
import { Type } from 'typebox';
import { FakeDevice, fakeAudit } from '../audit/fake-device.ts';
import { Outside, testEngine } from '../../test-engine.ts';

type Hooks = NonNullable<Parameters<typeof testEngine>[1]>;
interface Removing {
  phase: string;
  since: string;
  attempts: number;
  last_attempt: string | null;
  next_attempt: string | null;
  reasons: string[];
  leases: number | null;
}

describe('a mount that is being removed', () => {
  let outside: Outside;
  let clock: ManualClock;
  let store: ReturnType<typeof sharedMemory>;
  let driver: CuttableStorage;
  let mount: TestMount;
  let hooks: Hooks;
  const open: TestMount[] = [];

  const start = async (plugins: EnginePackage[] = [], engine = testEngine(outside, hooks)): Promise<TestMount> => {
    driver = store.open();
    const started = await mountForTest(engine, { storage: driver, path: 'acc', clock, plugins });
    open.push(started);
    return started;
  };
  const unmount = async (of: TestMount = mount, data: Record<string, unknown> = {}) => of.call('delete', 'sys/mounts/acc', { data });
  const mounts = async (of: TestMount = mount) => (await of.call('read', 'sys/mounts')).data as Record<string, { removing?: Removing }>;
  const removing = async (of: TestMount = mount): Promise<Removing | undefined> => (await mounts(of))['acc/']?.removing;
  const keys = async (): Promise<string[]> => (await store.open().range({ keysOnly: true })).map(({ key }) => key);

  beforeEach(async () => {
    outside = new Outside();
    clock = manualClock();
    store = sharedMemory();
    hooks = {};
    mount = await start();
    await mount.write('roles/r', { ttl: '10h' });
  });
  afterEach(async () => {
    outside.hanging.clear();
    for (const each of open.splice(0)) await each.close();
  });

  describe('while a lease cannot be taken back', () => {
    let leaseId: string;

    beforeEach(async () => {
      ({ leaseId } = await mount.read('creds/r'));
      outside.failing.add('one');
    });

    test('the unmount is answered with the reason, and says that it continues in the background', async () => {
      const refused = await unmount();
      expect(refused.status).toBe(400);
      expect(refused.errors).toEqual([
        `failed to revoke "${leaseId}" (1 / 1): failed to revoke entry: one is down. The removal of acc/ continues in the background; sys/removals/acc shows and cancels it`,
      ]);
    });

    test('its paths can still be read and configured, so that the cause can be corrected', async () => {
      await unmount();
      expect((await mount.call('read', 'acc/roles/r')).data).toMatchObject({ system: 'one' });
      expect((await mount.call('update', 'acc/roles/s', { data: { system: 'two' } })).status).toBe(204);
      expect((await mount.call('read', 'acc/roles/s')).status).toBe(200);
      expect((await mount.call('update', 'sys/mounts/acc/tune', { data: { description: 'going' } })).status).toBe(204);
      expect((await mount.call('update', 'sys/plugins/reload/backend', { data: { mounts: 'acc/' } })).status).toBe(200);
      expect((await mount.call('read', 'acc/roles/s')).status).toBe(200);
    });

    test('it issues no secret and makes nothing outside: these are refused with a 503 that says why', async () => {
      await unmount();
      const made = [...outside.log];
      const text = ['the mount acc/ is being removed, and issues nothing until that is cancelled'];
      const asked = await mount.call('read', 'acc/creds/r');
      expect([asked.status, asked.errors]).toEqual([503, text]);
      const account = await mount.call('update', 'acc/accounts/a');
      expect([account.status, account.errors]).toEqual([503, text]);
      expect(outside.log).toEqual(made);
    });

    test('it takes over no account outside, and goes on with those that it manages', async () => {
      expect((await mount.call('update', 'acc/managed/ann')).status).toBe(204);
      await unmount();
      const taken = await mount.call('update', 'acc/managed/bob');
      expect([taken.status, taken.errors]).toEqual([503, ['the mount acc/ is being removed, and issues nothing until that is cancelled']]);
      expect((await mount.call('read', 'acc/managed/bob')).status).toBe(404);
      expect((await mount.call('update', 'acc/managed/ann')).status).toBe(204);
      await mount.call('delete', 'sys/removals/acc');
      expect((await mount.call('update', 'acc/managed/bob')).status).toBe(204);
    });

    test('a change that only takes back may still begin', async () => {
      await unmount();
      outside.failing.clear();
      expect((await mount.call('delete', 'acc/accounts/old')).status).toBe(204);
      expect(outside.log).toContain('drop old');
    });

    test('it shows that it is being removed, since when and why, in every list of mounts', async () => {
      await unmount();
      const shown = {
        phase: 'revoking',
        since: '2030-01-01T00:00:00.000Z',
        attempts: 1,
        last_attempt: '2030-01-01T00:00:00.000Z',
        next_attempt: expect.any(String) as unknown as string,
        reasons: [`failed to revoke "${leaseId}" (1 / 1): failed to revoke entry: one is down`],
        leases: 1,
      };
      expect(await removing()).toEqual(shown);
      expect(((await mount.call('read', 'sys/mounts/acc')).data as { removing: unknown }).removing).toEqual(shown);
      expect((await mount.call('read', 'sys/removals/acc')).data).toEqual({ type: 'test', ...shown });
      expect((await mount.call('read', 'sys/removals')).data).toEqual({ removing: { 'acc/': { type: 'test', ...shown } }, removed: [] });
      expect((await mounts())['cubbyhole/']).not.toHaveProperty('removing');
    });

    test('it is tried again with growing pauses, and goes when the outside system is back', async () => {
      await unmount();
      await mount.advance('5m');
      const { attempts } = (await removing())!;
      expect(attempts).toBeGreaterThan(3);
      expect(attempts).toBeLessThan(12);
      outside.failing.clear();
      await mount.advance('6m');
      expect(await removing()).toBeUndefined();
      expect(outside.users.size).toBe(0);
      expect((await mount.call('read', 'acc/roles/r')).status).toBe(404);
    });

    test('an irrevocable lease does not wait for its next day once the cause is corrected', async () => {
      await unmount();
      await mount.advance('20m');
      expect((await mount.call('read', 'sys/leases/count', { data: { type: 'irrevocable' } })).data).toMatchObject({ lease_count: 1 });
      outside.failing.clear();
      await mount.advance('6m');
      expect(Object.keys(await mounts())).not.toContain('acc/');
      expect(outside.users.size).toBe(0);
    });

    test('a second unmount, or a write to sys/removals, tries again at once', async () => {
      await unmount();
      expect((await mount.call('update', 'sys/removals/acc')).status).toBe(400);
      outside.failing.clear();
      expect((await mount.call('update', 'sys/removals/acc')).status).toBe(204);
      expect(Object.keys(await mounts())).not.toContain('acc/');
      expect((await mount.call('update', 'sys/removals/acc')).errors).toEqual(['the mount "acc/" is not being removed']);
    });

    test('one lease that fails does not keep the others from being taken back', async () => {
      await mount.write('roles/two', { system: 'two' });
      for (let i = 0; i < 3; i += 1) await mount.read('creds/two');
      outside.failing.add('one');
      await unmount();
      expect([...outside.users]).toEqual(['u1']);
      expect((await removing())!.leases).toBe(1);
    });

    test('it survives a restart, and the next server goes on', async () => {
      await unmount();
      await mount.close();
      outside.failing.clear();
      const next = await start();
      expect((await removing(next))!.attempts).toBe(1);
      expect((await next.call('read', 'acc/creds/r')).status).toBe(503);
      await next.advance('3m');
      expect(Object.keys(await mounts(next))).not.toContain('acc/');
    });

    test('another server sees the same state, and its cancellation and its retry count', async () => {
      const other = await start();
      await unmount();
      await clock.advance(0);
      expect(await removing(other)).toEqual(await removing());
      expect((await other.call('read', 'acc/creds/r')).status).toBe(503);
      expect((await other.call('read', 'acc/roles/r')).status).toBe(200);
      expect((await other.call('delete', 'sys/removals/acc')).status).toBe(204);
      await clock.advance(0);
      expect(await removing()).toBeUndefined();
      outside.failing.clear();
      expect((await mount.call('read', 'acc/creds/r')).status).toBe(200);
      await mount.call('delete', 'sys/mounts/acc');
      await clock.advance(0);
      expect(Object.keys(await mounts(other))).not.toContain('acc/');
    });

    test('it cannot be moved, and nothing else can be mounted there', async () => {
      await unmount();
      expect((await mount.call('update', 'sys/remount', { data: { from: 'acc', to: 'b' } })).errors).toEqual([
        'the mount at "acc/" is being removed; cancel that first',
      ]);
      expect((await mount.call('update', 'sys/mounts/acc', { data: { type: 'test' } })).errors).toEqual(['path is already in use at acc/']);
    });

    test('the removal can be cancelled: the mount issues again, and nothing more is taken back', async () => {
      await unmount();
      expect((await mount.call('delete', 'sys/removals/acc')).status).toBe(204);
      outside.failing.clear();
      expect(await removing()).toBeUndefined();
      const { status, leaseId: fresh } = await mount.call('read', 'acc/creds/r');
      expect(status).toBe(200);
      await mount.advance('1h');
      expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: fresh } })).status).toBe(200);
      expect((await mount.call('read', 'acc/roles/r')).status).toBe(200);
      expect((await mount.call('delete', 'sys/removals/acc')).errors).toEqual(['the mount "acc/" is not being removed']);
      expect((await keys()).filter((key) => key.includes('removal'))).toEqual([]);
    });

    test('a removal that an earlier version of the server began goes on', async () => {
      const uuid = ((await mounts())['acc/'] as unknown as { uuid: string }).uuid;
      await unmount();
      await mount.close();
      const raw = store.open();
      const gone = (await raw.range({ keysOnly: true })).map(({ key }) => key).filter((key) => key.includes('removal'));
      await raw.commit({ delete: gone });
      expect((await keys()).filter((key) => key.includes('removal'))).toEqual([]);
      outside.failing.clear();
      const next = await start();
      await next.advance('1m');
      expect(Object.keys(await mounts(next))).not.toContain('acc/');
      expect((await keys()).filter((key) => key.includes(uuid))).toEqual([]);
    });
  });

  test('an outside system that does not answer is reported within the time that clients wait, and the removal goes on', async () => {
    await mount.read('creds/r');
    outside.hanging.add('one');
    const asked = unmount();
    await clock.advance(0);
    await clock.advance('46s');
    const answer = await asked;
    expect(answer.status).toBe(202);
    expect(answer.warnings).toEqual([
      'the removal of acc/ is not complete and continues in the background; GET sys/removals/acc shows how it stands',
    ]);
    expect((await removing())!.next_attempt).toBeNull();
    // Another mount is made meanwhile: the table waits for nobody.
    expect((await mount.call('update', 'sys/mounts/other', { data: { type: 'test' } })).status).toBe(204);
    outside.hanging.clear();
    await mount.advance('10m');
    expect(Object.keys(await mounts())).not.toContain('acc/');
    expect(outside.users.size).toBe(0);
  });

  test('a cancelled removal stops also where it is under way', async () => {
    await mount.read('creds/r');
    outside.hanging.add('one');
    const asked = unmount();
    await clock.advance(0);
    expect((await mount.call('delete', 'sys/removals/acc')).status).toBe(204);
    const answer = await asked;
    expect([answer.status, answer.errors![0]]).toEqual([400, expect.stringContaining('was cancelled')]);
    outside.hanging.clear();
    expect((await mount.call('read', 'acc/creds/r')).status).toBe(200);
  });

  test('an unfinished change holds it up with its reason, until the change is undone', async () => {
    hooks.afterCreate = async () => {
      outside.failing.add('one');
      throw new Error('lost');
    };
    await mount.call('update', 'acc/accounts/a');
    hooks.afterCreate = async () => undefined;
    const refused = await unmount();
    expect([refused.status, refused.errors![0]]).toEqual([
      500,
      expect.stringContaining('an unfinished change (create-account) could not be undone: one is down'),
    ]);
    expect((await removing())!.reasons).toEqual(['an unfinished change (create-account) could not be undone: one is down']);
    outside.failing.clear();
    await mount.advance('5m');
    expect(Object.keys(await mounts())).not.toContain('acc/');
    expect(outside.users.size).toBe(0);
  });

  test('an unfinished change whose engine does not run holds it up as well, and is not silently given up', async () => {
    hooks.afterCreate = async () => {
      throw new Error('lost');
    };
    await mount.call('update', 'acc/accounts/a');
    await mount.close();
    hooks.initialize = async () => {
      throw new Error('no directory');
    };
    mount = await start();
    expect((await unmount()).errors![0]).toContain('may still be under way');
    await mount.advance('3m');
    expect((await removing())!.reasons[0]).toContain('the engine that began it does not run');
    delete hooks.initialize;
    hooks.afterCreate = async () => undefined;
    await mount.advance('5m');
    expect(Object.keys(await mounts())).not.toContain('acc/');
    expect(outside.users.size).toBe(0);
  });

  test('a change that another server may still be at work on is not undone before its time', async () => {
    let goOn!: () => void;
    hooks.afterCreate = () => new Promise<void>((resolve) => (goOn = resolve));
    const other = await start();
    void other.call('update', 'acc/accounts/a');
    await clock.advance(0);
    const refused = await unmount();
    expect(refused.errors![0]).toContain('may still be under way in another process; it is undone at 2030-01-01T00:02:00.000Z');
    expect(outside.users.size).toBe(1);
    goOn();
    await clock.advance(0);
    await mount.advance('6m');
    expect(Object.keys(await mounts())).not.toContain('acc/');
  });

  describe('what the engine has outside without a lease', () => {
    const key = { kind: 'access key', name: 'AKIA1', system: '123456789012' };

    test('is taken back by the engine when no lease is left, under a signal', async () => {
      const seen: string[] = [];
      hooks.retire = async (_host, signal) => {
        seen.push(`retire with ${outside.users.size} users, ${signal.aborted ? 'ended' : 'in time'}`);
      };
      await mount.read('creds/r');
      expect((await unmount()).status).toBe(204);
      expect(seen).toEqual(['retire with 0 users, in time']);
    });

    test('holds the removal up while it cannot be taken back, with the engine’s reason', async () => {
      let broken = true;
      hooks.retire = async () => {
        if (broken) throw new UpstreamFailed('AWS refuses to delete AKIA1');
      };
      const refused = await unmount();
      expect([refused.status, refused.errors![0]]).toEqual([500, expect.stringContaining('AWS refuses to delete AKIA1')]);
      expect((await removing())!.reasons).toEqual(['AWS refuses to delete AKIA1']);
      broken = false;
      await mount.advance('1m');
      expect(Object.keys(await mounts())).not.toContain('acc/');
    });

    test('an engine whose retirement never ends is given its time and tried again', async () => {
      hooks.retire = async () => new Promise<void>(() => undefined);
      const asked = unmount();
      await clock.advance(0);
      await clock.advance('46s');
      expect((await asked).status).toBe(202);
      await clock.advance('15s');
      expect((await removing())!.reasons).toEqual(['no answer within 60 s']);
      hooks.retire = async () => undefined;
      await mount.advance('1m');
      expect(Object.keys(await mounts())).not.toContain('acc/');
    });

    test('is listed by an unmount that leaves it, as data and as a warning, and kept for later', async () => {
      hooks.outside = async () => [{ ...key, secret: 'not shown' } as never];
      const answer = await unmount();
      expect(answer.status).toBe(200);
      expect(answer.data).toEqual({ left_outside: [key] });
      expect(answer.warnings).toEqual(['1 thing stays outside, and the server no longer looks after it: access key AKIA1 (123456789012)']);
      expect((await mount.call('read', 'sys/removals')).data).toMatchObject({
        removing: {},
        removed: [{ path: 'acc/', type: 'test', at: '2030-01-01T00:00:00.000Z', forced: false, count: 1, left_outside: [key] }],
      });
      expect((await mount.call('read', 'sys/removals/acc')).data).toMatchObject({ phase: 'removed', left_outside: [key] });
    });

    test('of an engine that does not say, the accounts that it manages are listed', async () => {
      await mount.write('managed/ann', { by: 'static role "a"' });
      expect((await unmount()).data).toEqual({ left_outside: [{ kind: 'managed account', name: 'ann', system: 'one' }] });
    });
  });

  describe('forced', () => {
    const force = async (of: TestMount = mount) => unmount(of, { force: true });

    test('goes now, and answers every user, account and key that is left outside', async () => {
      hooks.outside = async () => [{ kind: 'root credential', name: 'admin', system: 'db', detail: 'its password is only here' }];
      const { leaseId } = await mount.read('creds/r');
      hooks.afterCreate = async () => {
        throw new Error('lost');
      };
      await mount.call('update', 'acc/accounts/half');
      outside.failing.add('one');
      await unmount();
      const answer = await force();
      expect(answer.status).toBe(200);
      expect((answer.data as { left_outside: unknown[] }).left_outside).toEqual([
        { kind: 'account', name: 'u1', system: 'one', lease_id: leaseId },
        { kind: 'account', name: 'half', system: 'one', detail: 'it was being made', journal_id: expect.any(String) },
        { kind: 'root credential', name: 'admin', system: 'db', detail: 'its password is only here' },
      ]);
      expect(answer.warnings).toEqual([
        '3 things stay outside, and the server no longer looks after them: account u1 (one), account half (one), root credential admin (db)',
      ]);
      expect(Object.keys(await mounts())).not.toContain('acc/');
      expect((await mount.call('read', 'sys/journal')).data).toEqual({ intents: [] });
      expect((await mount.call('list', 'sys/leases/lookup/acc/creds/r/')).status).toBe(404);
      const { removed } = (await mount.call('read', 'sys/removals')).data as { removed: unknown[] };
      expect(removed).toMatchObject([{ path: 'acc/', forced: true, count: 3 }]);
      await mount.advance('1d');
      expect(outside.users).toEqual(new Set(['u1', 'half']));
    });

    test('is audited with the list', async () => {
      const device = new FakeDevice();
      await mount.close();
      mount = await start([fakeAudit({ it: device }) as unknown as EnginePackage]);
      await mount.call('update', 'sys/audit/it', { data: { type: 'fake', options: { is: 'it', log_raw: 'true' } } });
      await mount.read('creds/r');
      outside.failing.add('one');
      await force();
      const entry = device.lines
        .map((line) => JSON.parse(line) as { type: string; request: { path: string; operation: string }; response?: { data?: unknown } })
        .find(({ type, request }) => type === 'response' && request.path === 'sys/mounts/acc' && request.operation === 'delete');
      expect(entry?.response?.data).toMatchObject({ left_outside: [{ kind: 'account', name: 'u1', system: 'one' }] });
    });

    test('still takes back what can be taken back', async () => {
      await mount.write('roles/two', { system: 'two' });
      await mount.read('creds/r');
      await mount.read('creds/two');
      outside.failing.add('one');
      expect(((await force()).data as { left_outside: { name: string }[] }).left_outside.map(({ name }) => name)).toEqual(['u1']);
      expect([...outside.users]).toEqual(['u1']);
    });

    test('with nothing left answers the empty list, and no mount is no error', async () => {
      await mount.read('creds/r');
      expect(await force()).toMatchObject({ status: 200, data: { left_outside: [] }, warnings: null });
      expect((await force()).status).toBe(204);
    });

    test('needs sudo', async () => {
      await mount.call('update', 'sys/policies/acl/p', {
        data: { policy: 'path "sys/mounts/acc" { capabilities = ["delete"] }' },
      });
      const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['p'] } });
      const token = auth!.client_token;
      expect((await mount.call('delete', 'sys/mounts/acc', { token, data: { force: 'true' } })).status).toBe(403);
      expect((await mount.call('read', 'acc/roles/r')).status).toBe(200);
      expect(await removing()).toBeUndefined();
      await mount.call('update', 'sys/policies/acl/p', {
        data: { policy: 'path "sys/mounts/acc" { capabilities = ["delete", "sudo"] }' },
      });
      expect((await mount.call('delete', 'sys/mounts/acc', { token, data: { force: 'true' } })).status).toBe(200);
    });

    test('works while an attempt hangs, within half a minute', async () => {
      await mount.read('creds/r');
      outside.hanging.add('one');
      const hanging = unmount();
      await clock.advance(0);
      const asked = force();
      await clock.advance(0);
      await clock.advance('27s');
      expect((await asked).data).toMatchObject({ left_outside: [{ name: 'u1' }] });
      expect(Object.keys(await mounts())).not.toContain('acc/');
      expect([202, 204, 400]).toContain((await hanging).status);
    });

    test('works while the engine cannot start, and while its plugin is not installed', async () => {
      const { leaseId } = await mount.read('creds/r');
      await mount.write('managed/ann', { by: 'static role "a"' });
      await mount.close();
      mount = await mountForTest({ ...testEngine(outside), name: 'another' }, { storage: store.open(), clock });
      open.push(mount);
      expect((await unmount()).status).toBe(400);
      const answer = await force();
      expect(answer.data).toEqual({
        left_outside: [
          { kind: 'secret of type account', name: leaseId, lease_id: leaseId },
          { kind: 'managed account', name: 'ann', system: 'one' },
        ],
      });
      expect(answer.warnings![1]).toContain('does not run');
      expect(Object.keys(await mounts())).not.toContain('acc/');
    });

    test('an engine that fails to list what it has outside does not hold it up, and the answer says so', async () => {
      hooks.outside = async () => {
        throw new Error('a damaged record');
      };
      const refused = await unmount();
      expect(refused.errors![0]).toContain('a damaged record');
      const answer = await force();
      expect(answer.data).toEqual({ left_outside: [] });
      expect(answer.warnings).toEqual(['the engine of acc/ failed to say what it leaves outside: a damaged record']);
    });

    test('an engine that never closes does not hold it up', async () => {
      hooks.close = async () => new Promise<void>(() => undefined);
      const asked = force();
      await clock.advance(0);
      await clock.advance('11s');
      expect((await asked).status).toBe(200);
      delete hooks.close;
    });
  });

  test('a quarantined mount without leases can be removed, and the answer says what nobody can list', async () => {
    await mount.close();
    hooks.initialize = async () => {
      throw new Error('no directory');
    };
    mount = await start();
    const answer = await unmount();
    expect(answer.status).toBe(200);
    expect(answer.warnings).toEqual(['the engine of acc/ does not run (no directory), so it cannot say what it leaves outside']);
    expect(Object.keys(await mounts())).not.toContain('acc/');
  });

  describe('a login method', () => {
    const alias = (name: string) => ({ name, customMetadata: {} });
    const logins: EnginePackage = {
      name: 'hello',
      kind: 'auth',
      apiVersion: 2,
      create: () => ({
        paths: [
          path('login/{name}', {
            synopsis: 'Logs in.',
            description: 'Anybody.',
            login: (data) => String(data['name']),
            fields: { name: f.name('Who.') },
          }).update({
            summary: 'Logs in.',
            handle: async ({ data }) => ({
              auth: {
                alias: alias(data.name),
                displayName: data.name,
                policies: ['default'],
                metadata: {},
                terms: {
                  ttl: 3_600,
                  maxTtl: 0,
                  period: 0,
                  explicitMaxTtl: 0,
                  numUses: 0,
                  renewable: true,
                  type: 'default',
                  boundCidrs: [],
                  noDefaultPolicy: false,
                },
              } as unknown as IssuedAuth,
            }),
          }),
          path('config', { synopsis: 'Configuration.', description: 'Of nothing.', fields: {} }).read({
            summary: 'Reads.',
            handle: async () => ({ data: { fine: true } }),
          }),
        ],
        retire: async () => {
          throw new UpstreamFailed('the directory is down');
        },
      }),
    };

    test('lets nobody in while it is being removed, and can still be configured; its tokens have ended', async () => {
      await mount.close();
      mount = await start([logins]);
      await mount.call('update', 'sys/auth/hello', { data: { type: 'hello' } });
      const token = (await mount.call('update', 'auth/hello/login/ann', { token: '' })).auth!.client_token;
      const refused = await mount.call('delete', 'sys/auth/hello');
      expect([refused.status, refused.errors![0]]).toEqual([500, expect.stringContaining('the directory is down')]);
      const login = await mount.call('update', 'auth/hello/login/ann', { token: '' });
      expect([login.status, login.errors]).toEqual([
        503,
        ['the mount auth/hello/ is being removed, and issues nothing until that is cancelled'],
      ]);
      expect((await mount.call('read', 'auth/hello/config')).data).toEqual({ fine: true });
      expect((await mount.call('read', 'auth/token/lookup-self', { token })).status).toBe(403);
      expect((await mount.call('read', 'sys/auth')).data).toMatchObject({ 'hello/': { removing: { reasons: ['the directory is down'] } } });
      expect((await mount.call('read', 'sys/removals/auth/hello')).data).toMatchObject({ phase: 'revoking' });
      expect((await mount.call('delete', 'sys/removals/auth/hello')).status).toBe(204);
      expect((await mount.call('update', 'auth/hello/login/ann', { token: '' })).status).toBe(200);
    });
  });

  test('a secret that needs nothing outside is refused as well, in the commit that would store its lease', async () => {
    const Word = Type.Object({ word: Type.String() });
    const type = { type: 'word', internal: Word, revoke: async () => undefined };
    let goOn!: () => void;
    const slow = new Promise<void>((resolve) => (goOn = resolve));
    const words: EnginePackage = {
      name: 'words',
      kind: 'secret',
      apiVersion: 2,
      create: () => ({
        secrets: [type],
        retire: async () => {
          throw new UpstreamFailed('not yet');
        },
        paths: [
          path('word', { synopsis: 'Words.', description: 'One at a time.', fields: {} }).read({
            summary: 'Gives one.',
            handle: async () => {
              await slow;
              return { data: { word: 'x' }, secret: issue(type, { internal: { word: 'x' }, terms: { ttl: 60, maxTtl: 60 } }) };
            },
          }),
        ],
      }),
    };
    await mount.close();
    mount = await start([words]);
    await mount.call('update', 'sys/mounts/words', { data: { type: 'words' } });
    goOn();
    await mount.call('delete', 'sys/mounts/words');
    expect((await mount.call('read', 'words/word')).status).toBe(503);
    expect((await mount.call('list', 'sys/leases/lookup/words/')).status).toBe(404);
  });
});
