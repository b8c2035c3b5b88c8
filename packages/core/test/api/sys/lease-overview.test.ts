import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { Outside, testEngine } from '../../test-engine.ts';

interface Row {
  readonly lease_id: string;
  readonly state: string;
  readonly type: string;
  readonly accessor: string | null;
  readonly error: string | null;
  readonly next_attempt: string | null;
  readonly expire_time: string;
}

describe('leases as operators look at them', () => {
  let outside: Outside;
  let store: ReturnType<typeof sharedMemory>;
  let mount: TestMount;

  beforeEach(async () => {
    outside = new Outside();
    store = sharedMemory();
    mount = await mountForTest(testEngine(outside), { storage: store.open(), path: 'acc' });
    await mount.write('roles/r', { ttl: '1h', max_ttl: '2h' });
    await mount.write('roles/late', { ttl: '3d', max_ttl: '4d' });
  });
  afterEach(async () => mount.close());

  const look = async (path: string, data: Record<string, unknown> = {}, token?: string) => {
    const answer = await mount.call('read', `sys/leases/${path}`, { data, ...(token === undefined ? {} : { token }) });
    return { status: answer.status, errors: answer.errors, data: answer.data as Record<string, unknown> & { leases: Row[] } };
  };

  test('the histogram counts secrets and tokens in the bucket in which they end', async () => {
    await mount.read('creds/r');
    await mount.read('creds/r');
    await mount.read('creds/late');
    await mount.call('update', 'auth/token/create', { data: { policies: ['default'], ttl: '90m' } });
    const { data } = await look('histogram', { buckets: 4, to: '2030-01-01T04:00:00Z' });
    expect(data).toEqual({
      from: '2030-01-01T00:00:00.000Z',
      to: '2030-01-01T04:00:00.000Z',
      buckets: [
        { from: '2030-01-01T00:00:00.000Z', secrets: 0, tokens: 0 },
        { from: '2030-01-01T01:00:00.000Z', secrets: 2, tokens: 1 },
        { from: '2030-01-01T02:00:00.000Z', secrets: 0, tokens: 0 },
        { from: '2030-01-01T03:00:00.000Z', secrets: 0, tokens: 0 },
      ],
      secrets: 2,
      tokens: 1,
    });
    expect((await look('histogram', { prefix: '/acc/creds/late/', to: '2030-01-05T00:00:00Z' })).data).toMatchObject({
      secrets: 1,
      tokens: 0,
    });
  });

  test('a row tells times, renewal and the accessor of the token that asked, and never the credential', async () => {
    await mount.call('update', 'sys/policies/acl/all', { data: { policy: 'path "*" { capabilities = ["read", "update"] }' } });
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['all'], ttl: '5h' } });
    const { leaseId } = await mount.call('read', 'acc/creds/r', { token: made.auth!.client_token });
    await mount.advance('10m');
    await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } });
    const { data } = await look('expiring', { prefix: 'acc' });
    expect(data).toEqual({
      leases: [
        {
          lease_id: leaseId,
          type: 'secret',
          state: 'live',
          path: 'acc/creds/r',
          issue_time: '2030-01-01T00:00:00.000Z',
          expire_time: '2030-01-01T01:10:00.000Z',
          last_renewal: '2030-01-01T00:10:00.000Z',
          renewable: true,
          accessor: made.auth!.accessor,
          next_attempt: null,
          attempts: 0,
          error: null,
        },
      ],
    });
    const tokens = await look('expiring', { prefix: 'auth/token/create' });
    expect(tokens.data.leases).toMatchObject([{ type: 'token', accessor: made.auth!.accessor, state: 'live' }]);
    expect(JSON.stringify(tokens.data)).not.toContain(made.auth!.client_token);
    expect((await look('expiring', { prefix: leaseId })).data.leases).toHaveLength(1);
  });

  describe('for a caller without sudo on them', () => {
    const tokenWith = async (lookup: string): Promise<string> => {
      const policy = `path "sys/leases/*" { capabilities = ["read"] }\n${lookup}`;
      await mount.call('update', 'sys/policies/acl/some', { data: { policy } });
      return (await mount.call('update', 'auth/token/create', { data: { policies: ['some'] } })).auth!.client_token;
    };
    const LISTS = 'path "sys/leases/lookup/acc/creds/*" { capabilities = ["list", "sudo"] }';
    const counts = ['histogram', 'tree', 'totals'];

    test('numbers below a prefix that it may list are shown, and no others', async () => {
      await mount.read('creds/r');
      const token = await tokenWith(LISTS);
      for (const path of counts) {
        expect((await look(path, { prefix: 'acc/creds' }, token)).status).toBe(200);
        expect((await look(path, { prefix: 'acc/creds/r/' }, token)).status).toBe(200);
        for (const prefix of ['', '/', 'acc', 'acc/cred', 'auth/token'])
          expect([path, prefix, (await look(path, { prefix }, token)).status]).toEqual([path, prefix, 403]);
      }
      // Their cursors name leases of other paths.
      for (const path of ['expiring', 'failing']) expect((await look(path, { prefix: 'acc/creds' }, token)).status).toBe(403);
      expect((await look('tree', { prefix: 'acc/creds' }, token)).data).toMatchObject({ folders: [{ name: 'r/', leases: 1 }] });
    });

    test.each([
      ['lists without sudo', LISTS.replace(', "sudo"', '')],
      ['does not list', LISTS.replace('"list", ', '')],
      ['may not list one folder of it', `${LISTS}\npath "sys/leases/lookup/acc/creds/late/*" { capabilities = ["deny"] }`],
      ['may list one path of it without sudo', `${LISTS}\npath "sys/leases/lookup/acc/creds/late" { capabilities = ["list"] }`],
      ['may not list a name in it', `${LISTS}\npath "sys/leases/lookup/acc/creds/+/x" { capabilities = ["deny"] }`],
      ['lists short pages alone', LISTS.replace(' }', ' pagination_limit = 1 }')],
    ])('one who %s sees none', async (_what, policy) => {
      const token = await tokenWith(policy);
      for (const path of counts) expect((await look(path, { prefix: 'acc/creds' }, token)).status).toBe(403);
    });
  });

  test('a token ends its own leases with the default policy, and no others', async () => {
    const token = async (): Promise<string> => {
      await mount.call('update', 'sys/policies/acl/creds', { data: { policy: 'path "acc/creds/*" { capabilities = ["read"] }' } });
      return (await mount.call('update', 'auth/token/create', { data: { policies: ['creds'] } })).auth!.client_token;
    };
    const [own, other] = [await token(), await token()];
    const { leaseId } = await mount.call('read', 'acc/creds/r', { token: own });
    const end = async (by: string, lease = leaseId) =>
      mount.call('update', 'sys/leases/revoke-own', { data: { lease_id: lease }, token: by });
    const refused = await end(other);
    expect([refused.status, refused.errors]).toEqual([400, (await end(other, 'acc/creds/r/none')).errors]);
    expect((await look('totals', { prefix: 'acc' })).data).toMatchObject({ leases: 1 });
    outside.failing.add('one');
    expect((await end(own)).status).toBe(500);
    outside.failing.clear();
    expect((await end(own)).status).toBe(204);
    expect((await look('totals', { prefix: 'acc' })).data).toMatchObject({ leases: 0 });
    expect((await end(own)).status).toBe(400);
  });

  test('a prefix is a path: what only begins with the same letters is not below it', async () => {
    await mount.write('roles/red', { ttl: '1h' });
    await mount.read('creds/r');
    await mount.read('creds/red');
    expect((await look('expiring', { prefix: 'acc/creds/r' })).data.leases).toHaveLength(1);
    expect((await look('totals', { prefix: 'acc/creds/r' })).data).toMatchObject({ leases: 1 });
    expect((await look('tree', { prefix: 'acc/creds' })).data).toEqual({
      folders: [
        { name: 'r/', leases: 1, more: false },
        { name: 'red/', leases: 1, more: false },
      ],
      leases_here: 0,
    });
  });

  test('revoking a prefix can be followed to its end, and what cannot be revoked is named with the reason', async () => {
    await mount.write('roles/other', { ttl: '1h', system: 'two' });
    for (let i = 0; i < 3; i += 1) await mount.read('creds/r');
    const stuck = await mount.read('creds/other');
    expect((await look('totals', { prefix: 'acc' })).data).toEqual({ leases: 4, failing: 0, irrevocable: 0, failing_more: false });
    outside.failing.add('two');
    await mount.call('update', 'sys/leases/revoke-prefix/acc', { data: { sync: false } });
    await mount.core.settleSchedule();
    expect((await look('totals', { prefix: 'acc' })).data).toMatchObject({ leases: 1, failing: 1, irrevocable: 0 });
    const failing = await look('failing', { prefix: 'acc' });
    expect(failing.data.leases).toMatchObject([{ lease_id: stuck.leaseId, state: 'waiting', error: 'two is down', attempts: 1 }]);
    expect(Date.parse(failing.data.leases[0]!.next_attempt!)).toBeGreaterThan(mount.clock.millis());
    for (let i = 0; i < 40; i += 1) await mount.advance('1m');
    expect((await look('failing')).data.leases).toMatchObject([{ state: 'irrevocable', attempts: 6 }]);
    expect((await look('totals', { prefix: 'acc' })).data).toMatchObject({ leases: 1, failing: 1, irrevocable: 1 });
    expect((await look('failing', { prefix: 'elsewhere' })).data.leases).toEqual([]);
    outside.failing.clear();
    await mount.call('update', 'sys/leases/requeue/acc');
    await mount.core.settleSchedule();
    expect((await look('totals', { prefix: 'acc' })).data).toMatchObject({ leases: 0, failing: 0 });
  });

  test('a damaged lease is listed as damaged and holds up nothing', async () => {
    const broken = await mount.read('creds/r');
    await mount.read('creds/r');
    await store.open().commit({ put: [{ key: `lease/${broken.leaseId}`, value: Buffer.from('nonsense') }] });
    for (const prefix of ['', 'acc']) {
      const { data } = await look('expiring', { prefix });
      const rows = data.leases.map(({ lease_id, state }) => [lease_id === broken.leaseId, state]);
      expect(new Set(rows)).toEqual(
        new Set([
          [true, 'damaged'],
          [false, 'live'],
        ]),
      );
    }
    expect((await look('totals', { prefix: 'acc' })).data).toMatchObject({ leases: 2 });
  });

  test('all of it needs sudo, since it shows every path', async () => {
    await mount.call('update', 'sys/policies/acl/weak', { data: { policy: 'path "sys/leases/*" { capabilities = ["read"] }' } });
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['weak'], ttl: '1h' } });
    for (const path of ['histogram', 'expiring', 'tree', 'totals', 'failing'])
      expect((await look(path, {}, made.auth!.client_token)).status).toBe(403);
  });

  test('wrong input is a 400 that names the field', async () => {
    const refused = async (path: string, data: Record<string, unknown>) => {
      const answer = await look(path, data);
      return `${answer.status} ${answer.errors?.join()}`;
    };
    expect(await refused('histogram', { from: '2030-01-02T00:00:00Z', to: '2030-01-01T00:00:00Z' })).toBe(
      '400 to: must be later than from',
    );
    expect(await refused('histogram', { buckets: 0 })).toMatch(/^400 .*buckets/);
    expect(await refused('histogram', { buckets: 100_000 })).toMatch(/^400 .*buckets/);
    expect(await refused('histogram', { from: 'yesterday' })).toMatch(/^400 .*from/);
    expect(await refused('histogram', { from: -5 })).toMatch(/^400 from: /);
    expect(await refused('expiring', { after: 'x' })).toBe('400 after: must be the `next` of an earlier answer');
    expect(await refused('expiring', { limit: 0 })).toMatch(/^400 .*limit/);
    expect(await refused('failing', { after: 'x' })).toBe('400 after: must be the `next` of an earlier answer');
    expect(await refused('expiring', { prefix: '../..' })).toMatch(/^200/);
  });
});
