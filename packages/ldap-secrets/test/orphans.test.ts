import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { startLdapCutter, type LdapCutter } from './ldap-cutter.ts';
import { configFor, dataOf, DirectoryView, mountLdap, SVC, withManager } from './ldap-mount.ts';

interface Found {
  usernames: string[];
  accounts: { username: string; entries: string[]; role?: string; created?: string; known_by: string }[];
  searched: string[];
}

const GROUP = 'cn=made,ou=groups,dc=example,dc=org';
const entry = (rest = ''): string => `dn: uid={{.Username}},${SVC}
objectClass: inetOrgPerson
uid: {{.Username}}
cn: {{.Username}}
sn: x
userPassword: {{.Password}}
${rest}`;
const joining = `\ndn: ${GROUP}\nchangetype: modify\nadd: member\nmember: uid={{.Username}},${SVC}\n-\n`;
const leaving = `dn: ${GROUP}\nchangetype: modify\ndelete: member\nmember: uid={{.Username}},${SVC}\n-\n\n`;
const removal = `dn: uid={{.Username}},${SVC}\nchangetype: delete\n`;
const role = { creation_ldif: entry(joining), deletion_ldif: leaving + removal };

async function copyOf(storage: StorageDriver): Promise<StorageDriver> {
  const copy = memoryStorage();
  await copy.commit({ put: await storage.range({}) });
  return copy;
}

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('orphans', () => {
  let slapd: Slapd;
  let cutter: LdapCutter;
  let view: DirectoryView;
  let mount: TestMount;
  beforeAll(async () => {
    slapd = await startSlapd({
      ...withManager,
      ldif: `${withManager.ldif}\ndn: ${GROUP}\nobjectClass: groupOfNames\ncn: made\nmember: cn=nobody\n`,
    });
    cutter = await startLdapCutter(slapd.port);
    view = new DirectoryView(slapd);
  });
  afterAll(async () => {
    view.close();
    await cutter.stop();
    await slapd.stop();
  });
  beforeEach(async () => {
    cutter.open();
    mount = await mountLdap(cutter);
    await mount.write('role/app', role);
  });
  afterEach(async () => {
    cutter.open();
    await mount.close();
    for (const { dn } of await entries()) await view.asAdmin(async (connection) => connection.delete(dn));
    await view.asAdmin(async (connection) =>
      connection.modify(GROUP, [{ operation: 'replace', attribute: 'member', values: ['cn=nobody'] }]),
    );
  });

  const entries = async () => view.below(SVC, '(!(|(uid=svc*)(objectClass=organizationalUnit)))');
  const accounts = async (): Promise<string[]> => (await entries()).map((found) => found.first('uid')!);
  const members = async (): Promise<string[]> => (await view.entry(GROUP))!.values('member');
  /** A name that the mount gives and does not record: what is in the directory and not in a store that was restored from a backup. */
  const stray = async (name = 'app', at = mount): Promise<string> =>
    dataOf<{ username: string }>(await at.call('update', `ldap/role/${name}/preview`)).username;
  const make = async (...names: string[]): Promise<void> => {
    for (const uid of names) {
      await view.asAdmin(async (connection) =>
        connection.add(`uid=${uid},${SVC}`, [
          { attribute: 'objectClass', values: ['inetOrgPerson'] },
          ...['uid', 'cn', 'sn'].map((attribute) => ({ attribute, values: [uid] })),
        ]),
      );
    }
  };
  const join = async (uid: string): Promise<void> =>
    view.asAdmin(async (connection) =>
      connection.modify(GROUP, [{ operation: 'add', attribute: 'member', values: [`uid=${uid},${SVC}`] }]),
    );
  const orphans = async (at = mount): Promise<Found> => dataOf(await at.read('orphans'));
  const issue = async (name = 'app'): Promise<string> => dataOf<{ username: string }>(await mount.read(`creds/${name}`)).username;
  const dropAll = async (): Promise<void> => {
    await mount.call('update', 'sys/leases/revoke-force/ldap/creds');
  };
  const ask = async (operation: 'update' | 'delete', data: Record<string, unknown>) => {
    const { status, data: answer, errors } = await mount.call(operation, 'ldap/orphans', { data });
    return { status, answer, errors };
  };
  /** Revocations by force are tried once; the directory must be away for anything to be left. */
  const leave = async (): Promise<void> => {
    await cutter.shut();
    await dropAll();
    cutter.open();
    await mount.call('update', 'ldap/config', { data: configFor(cutter) });
  };

  test('GET lists the accounts whose names carry the mark of the mount and that nothing keeps, with role, entries and time', async () => {
    const names = [await stray(), await stray()].sort();
    await make(...names, 'v_token_app_GiSbsEuVnk_1795250515', 'v_somebody');
    await issue();
    const found = await orphans();
    expect(found.usernames).toEqual(names);
    expect(found.accounts[0]).toEqual({
      username: names[0],
      entries: [`uid=${names[0]},${SVC}`],
      role: 'app',
      known_by: 'mark',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    expect(found.searched).toEqual([SVC]);
    expect((await mount.read('orphans')).warnings!.join()).toContain('another server');
  });

  test('an account of another mount of the same directory is not one, with the same role there', async () => {
    await mount.call('update', 'sys/mounts/second', { data: { type: 'ldap' } });
    await mount.call('update', 'second/config', { data: configFor(cutter) });
    await mount.call('update', 'second/role/app', { data: role });
    const there = dataOf<{ username: string }>(await mount.call('update', 'second/role/app/preview')).username;
    const leased = dataOf<{ username: string }>(await mount.call('read', 'second/creds/app')).username;
    await make(there);
    expect((await orphans()).usernames).toEqual([]);
    expect((await ask('update', { usernames: [there] })).errors!.join()).toContain('is no orphan');
    expect((await ask('update', { usernames: [leased] })).errors!.join()).toContain('is no orphan');
    expect(await accounts()).toContain(there);
    expect(dataOf<Found>(await mount.call('read', 'second/orphans')).usernames).toEqual([there]);
  });

  test('an account that a static role or a set has taken into its care is not one', async () => {
    const [fixed, lent] = [await stray(), await stray()];
    await make(fixed, lent);
    await mount.write('static-role/kept', { username: fixed, rotation_period: '24h' });
    await mount.write('library/kept', { service_account_names: [lent] });
    expect((await orphans()).usernames).toEqual([]);
    expect((await ask('delete', { usernames: [fixed] })).status).toBe(400);
  });

  test('an account that was made after the backup from which the store was restored is one', async () => {
    const storage = memoryStorage();
    const first = await mountLdap(cutter, { storage });
    await first.write('role/app', role);
    const known = dataOf<{ username: string }>(await first.read('creds/app')).username;
    const backup = await copyOf(storage);
    const { username } = dataOf<{ username: string }>(await first.read('creds/app'));
    expect((await orphans(first)).usernames).toEqual([]);
    await first.close();
    const restored = await mountLdap(cutter, { storage: backup });
    expect((await orphans(restored)).usernames).toEqual([username]);
    expect(await accounts()).toContain(known);
    await restored.close();
  });

  test('an account whose lease was revoked by force while the directory was away is one, whatever its name', async () => {
    await mount.write('role/app', { username_template: 'fixed-{{.DisplayName}}' });
    const username = await issue();
    expect((await orphans()).usernames).toEqual([]);
    await leave();
    const found = await orphans();
    expect(found.accounts).toMatchObject([{ username, role: 'app', known_by: 'record', entries: [`uid=${username},${SVC}`] }]);
    expect((await mount.read('orphans')).warnings!.join()).toContain('role "app": its names carry no mark');
    expect((await mount.call('read', 'ldap/creds/app')).errors!.join()).toContain('exists already');
    expect(await ask('update', { all: true })).toMatchObject({ status: 200, answer: { removed: [username], gone: [], pending: {} } });
    expect(await issue()).toBe(username);
    expect((await orphans()).usernames).toEqual([]);
  });

  test('one that was deleted in the directory meanwhile is none', async () => {
    const username = await issue();
    await leave();
    await view.asAdmin(async (connection) => connection.delete(`uid=${username},${SVC}`));
    expect((await orphans()).usernames).toEqual([]);
    expect((await ask('update', { usernames: [username] })).answer).toEqual({ removed: [], gone: [username], pending: {} });
  });

  test('removal runs the deletion_ldif of the role that made the account, and deletes what that leaves', async () => {
    const [one, two] = [await stray(), await stray()];
    await make(one, two);
    await join(one);
    expect(await ask('delete', { usernames: [one] })).toMatchObject({ status: 200, answer: { removed: [one], gone: [], pending: {} } });
    expect(await accounts()).toEqual([two]);
    expect(await members()).toEqual(['cn=nobody']);
    await mount.write('role/app', { deletion_ldif: `dn: uid=nobody,${SVC}\nchangetype: delete\n` });
    expect(await ask('update', { all: true })).toMatchObject({ status: 200, answer: { removed: [two] } });
    expect(await accounts()).toEqual([]);
  });

  test('where two roles can have made an account its entry is deleted, and the LDIF of neither runs', async () => {
    const plain = { ...role, username_template: 'x-{{random 20}}' };
    await mount.write('role/app', plain);
    await mount.write('role/other', plain);
    const name = await stray();
    await make(name);
    await join(name);
    expect((await orphans()).accounts).toEqual([
      { username: name, entries: [`uid=${name},${SVC}`], known_by: 'mark', created: expect.anything() },
    ]);
    await ask('update', { all: true });
    expect(await accounts()).toEqual([]);
    expect(await members()).toContain(`uid=${name},${SVC}`);
    await view.asAdmin(async (connection) =>
      connection.modify(GROUP, [{ operation: 'delete', attribute: 'member', values: [`uid=${name},${SVC}`] }]),
    );
  });

  test('a name that would mean more than a name in LDIF is never written into one', async () => {
    const name = await stray();
    const crafted = `${name}\\0a\\0adn: uid=svc1\\,${SVC.replaceAll(',', '\\,')}\\0achangetype: delete\\0a`;
    await view.asAdmin(async (connection) =>
      connection.add(`uid=${crafted},${SVC}`, [
        { attribute: 'objectClass', values: ['inetOrgPerson'] },
        ...['cn', 'sn'].map((attribute) => ({ attribute, values: ['x'] })),
      ]),
    );
    const { accounts: found } = await orphans();
    for (const orphan of found) expect(orphan.role).toBeUndefined();
    await ask('update', { all: true });
    expect(await view.entry(`uid=svc1,${SVC}`)).toBeDefined();
    expect(await accounts()).toEqual([]);
  });

  test('what cannot be removed is pending with the reason, keeps its name, and is removed later', async () => {
    await mount.write('role/app', { username_template: 'fixed-{{.DisplayName}}' });
    const username = await issue();
    await leave();
    cutter.cutAt(0, 'request', 'changes');
    const cut = cutter.cut().then(() => cutter.shut());
    const { answer } = await ask('update', { usernames: [username] });
    await cut;
    expect(answer).toMatchObject({ removed: [], gone: [], pending: { [username]: expect.anything() } });
    cutter.open();
    const { errors } = await mount.call('read', 'ldap/creds/app');
    expect(errors!.join()).toContain('in use');
    for (let i = 0; i < 10; i += 1) await mount.advance(30);
    expect(await accounts()).toEqual([]);
    expect(await issue()).toBe(username);
  });

  test('removal takes names that are gone, and none at all where one is no orphan', async () => {
    const [one, gone] = [await stray(), await stray()];
    await make(one);
    const leased = await issue();
    const refused = await ask('update', { usernames: [one, leased] });
    expect(refused).toMatchObject({
      status: 400,
      errors: [expect.stringContaining(`${JSON.stringify(leased)} is no orphan: either this mount did not make it, or it is still in use`)],
    });
    expect((await ask('update', { usernames: ['svc1'] })).status).toBe(400);
    expect(await accounts()).toEqual(expect.arrayContaining([one, leased]));
    expect((await ask('update', { usernames: [one, gone] })).answer).toEqual({ removed: [one], gone: [gone], pending: {} });
    for (const data of [{}, { all: true, usernames: [one] }])
      expect(await ask('update', data)).toMatchObject({ status: 400, errors: ['give either usernames, those to remove, or all=true'] });
  });

  test('needs sudo, a configuration, and a directory', async () => {
    const policy = 'path "ldap/*" { capabilities = ["create", "read", "update", "delete", "list"] }';
    await mount.call('update', 'sys/policies/acl/plain', { data: { policy } });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['plain'] } });
    expect((await mount.call('read', 'ldap/orphans', { token: auth!.client_token })).status).toBe(403);
    await cutter.shut();
    expect((await mount.call('read', 'ldap/orphans')).status).toBe(500);
    cutter.open();
    await mount.delete('config');
    expect(await mount.call('read', 'ldap/orphans')).toMatchObject({
      status: 400,
      errors: [expect.stringContaining('the config is currently unset')],
    });
  });

  test('a creation whose first record is refused undoes nothing: what stands under the name is another’s', async () => {
    await mount.write('role/app', { username_template: 'taken', rollback_ldif: removal });
    await mount.write('role/long', {
      ...role,
      username_template: 'taken-{{random 12}}',
      rollback_ldif: `dn: uid=taken,${SVC}\nchangetype: delete\n`,
      creation_ldif: entry().replace(`uid={{.Username}},${SVC}`, `uid=taken,${SVC}`),
    });
    await make('taken');
    expect((await mount.call('read', 'ldap/creds/long')).status).toBe(500);
    expect(await accounts()).toEqual(['taken']);
  });

  test('two servers of one store know the same accounts', async () => {
    await mount.close();
    const memory = sharedMemory();
    mount = await mountLdap(cutter, { storage: memory.open() });
    await mount.write('role/app', role);
    const other = await mountLdap(cutter, { storage: memory.open(), clock: mount.clock });
    try {
      const name = await stray('app', other);
      await make(name);
      const { username } = dataOf<{ username: string }>(await other.read('creds/app'));
      expect(await accounts()).toContain(username);
      expect((await orphans()).usernames).toEqual([name]);
      expect((await orphans(other)).usernames).toEqual([name]);
    } finally {
      await other.close();
    }
  });
});
