import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { CoreResponse } from '@strongroom/core';
import type { Collection, EnginePackage, StorageView, Transaction } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { ldapSecrets } from '../src/index.ts';
import { startLdapCutter, type LdapCutter } from './ldap-cutter.ts';
import { configFor, dataOf, DirectoryView, managerDn, managerPassword, mountLdap, SVC, withManager } from './ldap-mount.ts';

interface Status {
  state: string;
  managed_by?: string;
  last_error: { message: string } | null;
}

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('one account of the directory has one manager', () => {
  let slapd: Slapd;
  let cutter: LdapCutter;
  let view: DirectoryView;
  let mount: TestMount;
  beforeAll(async () => {
    slapd = await startSlapd(withManager);
    cutter = await startLdapCutter(slapd.port);
    view = new DirectoryView(slapd);
  });
  afterAll(async () => {
    view.close();
    await cutter.stop();
    await slapd.stop();
  });
  beforeEach(async () => {
    await view.setPassword(managerDn, managerPassword);
    cutter.open();
    mount = await mountLdap(slapd);
    // The same server by another name, another address and another variant.
    await mount.call('update', 'sys/mounts/two', { data: { type: 'ldap' } });
    const url = `LDAP://127.0.0.1:${cutter.port}, ldap://localhost:${slapd.port}`;
    const written = { url, binddn: managerDn.toUpperCase(), userdn: 'OU=svc, DC=example,DC=org', userattr: 'UID' };
    await ok(mount.call('update', 'two/config', { data: { ...configFor(slapd), ...written } }));
  });
  afterEach(async () => mount.close());

  const dnOf = (uid: string): string => `uid=${uid},${SVC}`;
  const post = async (path: string, data: Record<string, unknown> = {}) => mount.call('update', path, { data });
  async function ok(asked: Promise<CoreResponse>): Promise<CoreResponse> {
    const answer = await asked;
    expect(answer.errors).toBeUndefined();
    return answer;
  }
  const expectRefused = async (path: string, data: Record<string, unknown>, text: string): Promise<void> => {
    const { status, errors } = await post(path, data);
    expect({ status, errors: errors?.join() }).toEqual({ status: 400, errors: expect.stringContaining(text) });
  };
  const statusOf = async (role: string): Promise<Status> => dataOf<{ status: Status }>(await mount.call('read', role)).status;
  const passwordOf = async (role: string): Promise<string> =>
    dataOf<{ password: string }>(await mount.call('read', role.replace('static-role', 'static-cred'))).password;
  const period = { rotation_period: '1h' };

  test('a static role, across mounts that write the server and the name in other ways, by name and by dn', async () => {
    await ok(post('ldap/static-role/a', { username: 'svc1', ...period }));
    const other = '"svc1" is already managed by the secrets engine: static role "a" of ldap/ changes its password';
    await expectRefused('two/static-role/b', { username: 'svc1', ...period }, other);
    await expectRefused('two/static-role/b', { username: 'svc1', dn: 'UID=SVC1, ou=svc , dc=example,dc=org', ...period }, other);
    await expectRefused('two/static-role/b', { username: 'svc1', ...period, skip_import_rotation: true }, other);
    await expectRefused('two/library/set', { service_account_names: 'svc1' }, other);
    expect((await mount.call('read', 'two/static-role/b')).status).toBe(404);
    await ok(mount.call('delete', 'ldap/static-role/a'));
    await ok(post('two/static-role/b', { username: 'svc1', ...period }));
  });

  test('adopt takes an account over; the other role stops, says so, and takes it back by adopt', async () => {
    await ok(post('ldap/static-role/a', { username: 'svc2', ...period }));
    await ok(post('two/static-role/b', { username: 'svc2', ...period, adopt: true }));
    expect(await statusOf('ldap/static-role/a')).toMatchObject({ state: 'taken_over', managed_by: 'static role "b" of two/' });
    const read = await mount.call('read', 'ldap/static-cred/a');
    expect(read.warnings!.join()).toContain('"svc2" is managed by static role "b" of two/ now, and is not rotated here any more');
    expect(Object.keys(dataOf<{ static_roles: object }>(await mount.read('failing')).static_roles)).toEqual(['a']);
    await expectRefused('ldap/rotate-role/a', {}, 'static role "b" of two/ changes its password');
    for (let i = 0; i < 3; i += 1) await mount.advance('1h');
    expect(await view.takes(dnOf('svc2'), await passwordOf('two/static-role/b'))).toBe(true);
    await ok(post('ldap/static-role/a', { adopt: true }));
    expect(await view.takes(dnOf('svc2'), await passwordOf('ldap/static-role/a'))).toBe(true);
    expect(await statusOf('ldap/static-role/a')).toMatchObject({ state: 'waiting', last_error: null });
    expect(await statusOf('two/static-role/b')).toMatchObject({ state: 'taken_over', managed_by: 'static role "a" of ldap/' });
  });

  test('adopt works within a mount too, also between a static role and the library', async () => {
    await ok(post('ldap/static-role/a', { username: 'svc3', ...period }));
    await ok(post('ldap/static-role/b', { username: 'svc3', ...period, adopt: true }));
    expect(await statusOf('ldap/static-role/a')).toMatchObject({ state: 'taken_over', managed_by: 'static role "b" of this mount' });
    await expectRefused('ldap/library/set', { service_account_names: 'svc3' }, 'static role "b" of this mount changes its password');
    await ok(post('ldap/library/set', { service_account_names: 'svc3', adopt: true }));
    expect((await statusOf('ldap/static-role/b')).managed_by).toBe('library account "svc3" of this mount');
    await ok(mount.call('delete', 'ldap/static-role/b'));
    const { data } = await ok(post('ldap/library/set/check-out'));
    expect(await view.takes(dnOf('svc3'), (data as { password: string }).password)).toBe(true);
  });

  test('an account of the library that was taken over is not lent, says so, and comes back by adopt', async () => {
    await ok(post('ldap/library/set', { service_account_names: 'svc4' }));
    await ok(post('two/static-role/b', { username: 'svc4', ...period, adopt: true }));
    await expectRefused('ldap/library/set/check-out', {}, 'No service accounts available');
    const shown = dataOf<Record<string, { available: boolean; rotation: Status }>>(await mount.read('library/set/status'))['svc4']!;
    expect(shown).toMatchObject({ available: false, rotation: { state: 'taken_over', managed_by: 'static role "b" of two/' } });
    await ok(post('ldap/library/set', { adopt: true }));
    await mount.advance(60);
    const { data } = await ok(post('ldap/library/set/check-out'));
    expect(await view.takes(dnOf('svc4'), (data as { password: string }).password)).toBe(true);
  });

  test('an account of the library that was taken over while it was lent comes back, and its set lets it go', async () => {
    await ok(post('ldap/library/set', { service_account_names: 'svc9' }));
    const { leaseId } = await ok(post('ldap/library/set/check-out'));
    await ok(post('two/static-role/b', { username: 'svc9', ...period, adopt: true }));
    expect((await post('sys/leases/revoke', { lease_id: leaseId, sync: true })).status).toBe(204);
    await mount.advance(60);
    expect(await view.takes(dnOf('svc9'), await passwordOf('two/static-role/b'))).toBe(true);
    await ok(mount.call('delete', 'ldap/library/set'));
    expect((await statusOf('two/static-role/b')).state).toBe('waiting');
  });

  test('a static role or a set on the account that the mount logs in with is refused, by adopt too, and so is such a binddn', async () => {
    const own = 'is the account that this mount logs in with (binddn), managed by the root credential of this mount';
    for (const adopt of [false, true]) {
      await expectRefused('ldap/static-role/m', { username: 'manager', dn: managerDn.toUpperCase(), ...period, adopt }, own);
    }
    await ok(post('ldap/config', { userdn: 'dc=example,dc=org', userattr: 'cn' }));
    await expectRefused('ldap/library/m', { service_account_names: 'manager', adopt: true }, own);
    expect(await view.takes(managerDn, managerPassword)).toBe(true);
    await ok(post('ldap/config', { userdn: SVC, userattr: 'uid' }));
    await ok(post('ldap/static-role/a', { username: 'svc5', ...period }));
    await expectRefused(
      'ldap/config',
      { binddn: dnOf('svc5'), bindpass: 'x' },
      'binddn: static role "a" of this mount changes the password',
    );
  });

  test('a rotated root credential, from other mounts, until somebody writes bindpass or adopts it', async () => {
    await ok(post('ldap/rotate-root'));
    const other = 'the root credential of ldap/ changes its password';
    await ok(post('two/config', { binddn: slapd.adminDn, bindpass: slapd.adminPassword }));
    await expectRefused('two/static-role/m', { username: 'manager', dn: managerDn, ...period }, other);
    await view.setPassword(managerDn, managerPassword);
    await ok(post('two/config', { binddn: managerDn, bindpass: managerPassword }));
    await expectRefused('two/rotate-root', {}, other);
    await ok(post('two/rotate-root', { adopt: true }));
    const { root_rotation } = dataOf<{ root_rotation: Status }>(await mount.read('config'));
    expect(root_rotation).toMatchObject({ state: 'taken_over', managed_by: 'the root credential of two/' });
    await expectRefused('ldap/rotate-root', {}, 'the root credential of two/ changes its password');
    await ok(post('two/config', { bindpass: 'known to somebody' }));
    await view.setPassword(managerDn, managerPassword);
    await ok(post('ldap/config', { bindpass: managerPassword }));
    await ok(post('ldap/rotate-root'));
  });

  test('is free again when the mount of its manager is removed', async () => {
    await ok(post('two/static-role/b', { username: 'svc6', ...period }));
    await ok(mount.call('delete', 'sys/mounts/two'));
    await ok(post('ldap/static-role/a', { username: 'svc6', ...period }));
  });

  test('roles and sets of an older store claim their accounts at their first rotation, and fail for none', async () => {
    const storage = sharedMemory();
    const older = await mountForTest(olderRelease, { path: 'ldap', storage: storage.open() });
    await older.write('config', configFor(slapd));
    await older.write('static-role/a', { username: 'svc7', ...period });
    await older.write('library/set', { service_account_names: 'svc8' });
    await older.close();
    const newer = await mountForTest(ldapSecrets, { path: 'ldap', storage: storage.open(), clock: manualClock(older.clock.now()) });
    try {
      await ok(newer.call('update', 'sys/mounts/two', { data: { type: 'ldap' } }));
      await ok(newer.call('update', 'two/config', { data: configFor(slapd) }));
      expect((await newer.call('update', 'ldap/library/set/check-out')).status).toBe(200);
      expect((await newer.call('update', 'ldap/library/manage/set/check-in')).status).toBe(200);
      await newer.advance('1h');
      expect(dataOf<{ status: Status }>(await newer.read('static-role/a')).status).toMatchObject({ state: 'waiting', last_error: null });
      for (const [username, by] of [
        ['svc7', 'static role "a" of ldap/'],
        ['svc8', 'library account "svc8" of ldap/'],
      ]) {
        const { errors } = await newer.call('update', 'two/static-role/b', { data: { username, ...period } });
        expect(errors!.join()).toContain(`${by} changes its password`);
      }
    } finally {
      await newer.close();
    }
  });
});

/** The engine as it was before there was a registry: it claims nothing, and its records name no account. */
const olderRelease: EnginePackage = {
  ...ldapSecrets,
  create: (host) => ldapSecrets.create({ ...host, mount: host.mount, storage: withoutRegistry(host.storage) }),
};

function withoutRegistry(storage: StorageView): StorageView {
  const collection: StorageView['collection'] = (...args) => stripped(storage.collection(...args));
  return {
    collection,
    managerOf: async () => undefined,
    jobStatus: async (...args) => storage.jobStatus(...args),
    transaction: async (work) =>
      storage.transaction(async (tx) => {
        const inside: Transaction = {
          ...withoutRegistry(tx as unknown as StorageView),
          manage: async () => undefined,
          release: async () => undefined,
          intend: async (...args) => tx.intend(...args),
          settle: async (...args) => tx.settle(...args),
          abandon: async (...args) => tx.abandon(...args),
          schedule: async (...args) => tx.schedule(...args),
          unschedule: async (...args) => tx.unschedule(...args),
          notifySubscribers: async (...args) => tx.notifySubscribers(...args),
          report: (report) => tx.report(report),
        };
        return work(inside);
      }),
  };
}

function stripped<T>(records: Collection<T>): Collection<T> {
  return {
    get: async (...args) => records.get(...args),
    delete: async (...args) => records.delete(...args),
    has: async (...args) => records.has(...args),
    list: async (...args) => records.list(...args),
    listFolder: async (...args) => records.listFolder(...args),
    entries: async (...args) => records.entries(...args),
    put: async (id, record) => {
      const { managed_account: _later, ...rest } = record as Record<string, unknown>;
      await records.put(id, rest as T);
    },
  };
}
