import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { startLdapCutter, type LdapCutter } from './ldap-cutter.ts';
import { dataOf, DirectoryView, mountLdap, SVC, withManager } from './ldap-mount.ts';

interface Issued {
  username: string;
  password: string;
  distinguished_names: string[];
}

const GROUP = 'cn=made,ou=groups,dc=example,dc=org';
const person = `dn: uid={{.Username}},${SVC}
objectClass: inetOrgPerson
uid: {{.Username}}
cn: {{.Username}}
sn: x
userPassword: {{.Password}}
`;
const joining = `dn: ${GROUP}\nchangetype: modify\nadd: member\nmember: uid={{.Username}},${SVC}\n-\n`;
const leaving = `dn: ${GROUP}\nchangetype: modify\ndelete: member\nmember: uid={{.Username}},${SVC}\n-\n`;
const removal = `dn: uid={{.Username}},${SVC}\nchangetype: delete\n`;
const role = { creation_ldif: person, deletion_ldif: removal };

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('dynamic roles', () => {
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
  });
  afterEach(async () => {
    cutter.open();
    await mount.close();
    for (const dn of await accounts()) await view.asAdmin(async (connection) => connection.delete(dn));
  });

  const accounts = async (): Promise<string[]> =>
    (await view.below(SVC, '(!(|(uid=svc*)(objectClass=organizationalUnit)))')).map(({ dn }) => dn);
  const members = async (): Promise<string[]> => (await view.entry(GROUP))!.values('member');
  const write = async (data: Record<string, unknown>, name = 'app') => mount.call('update', `ldap/role/${name}`, { data });
  const creds = async (name = 'app') => mount.call('read', `ldap/creds/${name}`);
  const issue = async (name = 'app'): Promise<Issued & { lease: string }> => {
    const answer = await mount.read(`creds/${name}`);
    return { ...dataOf<Issued>(answer), lease: answer.leaseId };
  };
  const revoke = async (lease: string) => mount.call('update', 'sys/leases/revoke', { data: { lease_id: lease, sync: true } });
  const stored = async (name = 'app'): Promise<Record<string, unknown>> => dataOf(await mount.read(`role/${name}`));
  const pass = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left -= 30) await mount.advance(Math.min(30, left));
  };
  const expectRefused = async (data: Record<string, unknown>, text: string | RegExp): Promise<void> => {
    const { status, errors } = await write(data);
    expect({ status, errors: errors?.join() }).toEqual({ status: 400, errors: expect.stringMatching(text) });
    expect((await mount.call('read', 'ldap/role/app')).status).toBe(404);
  };

  describe('POST, GET and DELETE role/:role_name', () => {
    test('POST stores all parameters, GET shows them with status 200, LIST role names the roles, DELETE forgets', async () => {
      const whole = {
        ...role,
        rollback_ldif: removal,
        username_template: 'x-{{.RoleName}}-{{random 8}}',
        default_ttl: '1h',
        max_ttl: 7_200,
      };
      expect((await write(whole)).status).toBe(204);
      expect(await stored()).toEqual({ ...whole, default_ttl: 3_600, max_ttl: 7_200 });
      expect((await mount.list('role')).data).toEqual({ keys: ['app'] });
      expect((await mount.call('delete', 'ldap/role/app')).status).toBe(204);
      expect(await mount.call('read', 'ldap/role/app')).toMatchObject({ status: 404, errors: [] });
      expect(await mount.call('read', 'ldap/creds/app')).toMatchObject({ status: 404, errors: [] });
      expect((await mount.call('list', 'ldap/role')).status).toBe(404);
    });

    test('creation_ldif and deletion_ldif are required', async () => {
      await expectRefused({ deletion_ldif: removal }, /^missing creation_ldif$/);
      await expectRefused({ creation_ldif: person }, /^missing deletion_ldif$/);
      await expectRefused({ ...role, creation_ldif: '# nothing\n' }, 'invalid creation_ldif: it holds no record');
    });

    test.each(['creation_ldif', 'deletion_ldif', 'rollback_ldif'])(
      '%s that is no template or no LDIF is refused, by name and line',
      async (field) => {
        await expectRefused({ ...role, [field]: 'dn: {{.Nope}}' }, new RegExp(`^invalid ${field}: .*Nope`));
        await expectRefused({ ...role, [field]: 'dn: {{.Username' }, `^invalid ${field}: `);
        await expectRefused({ ...role, [field]: `${removal}\ndn: x\n` }, new RegExp(`^invalid ${field}: LDIF line 4: `));
        await expectRefused(
          { ...role, [field]: `dn: ${SVC}\nchangetype: explode\n` },
          new RegExp(`^invalid ${field}: LDIF line 2: changetype`),
        );
      },
    );

    test.each(['creation_ldif', 'deletion_ldif', 'rollback_ldif'])('%s may be base64, and is read as plain text', async (field) => {
      const whole: Record<string, string> = { ...role, rollback_ldif: removal };
      const encoded = Buffer.from(whole[field]!).toString('base64');
      expect((await write({ ...whole, [field]: encoded })).status).toBe(204);
      expect(await stored()).toMatchObject(whole);
      expect((await creds()).status).toBe(200);
      await mount.delete('role/app');
      await expectRefused({ ...whole, [field]: 'bm90IExESUY' }, 'neither LDIF nor the base64 of one');
    });

    test('username_template sees no fields but RoleName and DisplayName, and no utf16le', async () => {
      await expectRefused({ ...role, username_template: '{{.Password}}' }, /^invalid username_template: .*Password/);
      await expectRefused({ ...role, username_template: '{{.RoleName | utf16le}}' }, /^invalid username_template: .*utf16le/);
    });

    test('a creation_ldif without records is refused; a default_ttl above the max_ttl of the configuration is stored with a warning', async () => {
      await expectRefused({ ...role, creation_ldif: '# dn: nothing\n' }, 'invalid creation_ldif: it holds no record');
      await mount.write('config', { max_ttl: '1h' });
      const { status, warnings } = await write({ ...role, default_ttl: '2h' });
      expect([status, warnings!.join()]).toEqual([200, expect.stringContaining('longer than the max_ttl of the configuration (3600 s)')]);
    });

    test('default_ttl above max_ttl is refused', async () => {
      await expectRefused({ ...role, default_ttl: '2h', max_ttl: '1h' }, 'default_ttl \\(7200 s\\) is longer than max_ttl \\(3600 s\\)');
    });

    test('default_ttl and max_ttl above what the mount gives are stored with a warning, and leases are no longer than the mount’s', async () => {
      expect((await write({ ...role, max_ttl: '10000h' })).warnings!.join()).toContain('2764800 s');
      expect((await write({ ...role, default_ttl: '10000h', max_ttl: '10000h' })).warnings!.join()).toContain('2764800 s');
      expect((await creds()).leaseDuration).toBe(2_764_800);
    });

    test('partial update: a POST to an existing role changes the keys that it sends; an empty text deletes the value', async () => {
      await write({ ...role, rollback_ldif: removal, username_template: 'x-{{random 8}}', default_ttl: '1h' });
      await write({ max_ttl: '3h', username_template: '', default_ttl: '' });
      expect(await stored()).toEqual({ ...role, rollback_ldif: removal, username_template: '', default_ttl: 0, max_ttl: 10_800 });
      expect((await write({ creation_ldif: '' })).errors).toEqual(['missing creation_ldif']);
      await write({ rollback_ldif: '' });
      expect((await stored())['rollback_ldif']).toBe('');
    });
  });

  describe('GET creds/:role_name', () => {
    test('makes the account for a lease, which takes it away again', async () => {
      await write({ ...role, default_ttl: '1h', max_ttl: '2h' });
      const { username, password, distinguished_names, lease } = await issue();
      expect(username).toMatch(new RegExp(`^v_root_app_[A-Za-z0-9]{10}_${Math.floor(mount.clock.millis() / 1_000)}$`));
      expect(distinguished_names).toEqual([`uid=${username},${SVC}`]);
      expect(await view.takes(distinguished_names[0]!, password)).toBe(true);
      expect(lease).toMatch(/^ldap\/creds\/app\/[A-Za-z0-9]{24}$/);
      expect((await revoke(lease)).status).toBe(204);
      expect(await accounts()).toEqual([]);
    });

    test('default_ttl and max_ttl are those of the lease, and its end takes the account away; a renewal extends it', async () => {
      await write({ ...role, default_ttl: '1h', max_ttl: '2h' });
      const answer = await mount.read('creds/app');
      expect(answer).toMatchObject({ leaseDuration: 3_600, renewable: true });
      await pass(1_800);
      const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: answer.leaseId, increment: 86_400 } });
      expect(renewed.leaseDuration).toBe(5_400);
      await pass(5_340);
      expect(await accounts()).toHaveLength(1);
      await pass(120);
      expect(await accounts()).toEqual([]);
    });

    test('renewal of a lease whose role is gone is refused; revocation works by the LDIF of the issue', async () => {
      await write({ ...role, default_ttl: '1h' });
      const { lease } = await issue();
      await mount.delete('role/app');
      const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: lease } });
      expect(renewed.errors!.join()).toContain('unable to renew: role does not exist');
      expect((await revoke(lease)).status).toBe(204);
      expect(await accounts()).toEqual([]);
    });

    test('several records are carried out in order, and group memberships too', async () => {
      await write({ creation_ldif: `${person}\n${joining}`, deletion_ldif: `${leaving}\n${removal}` });
      const { distinguished_names, lease } = await issue();
      expect(distinguished_names).toEqual([distinguished_names[0], GROUP]);
      expect(await members()).toEqual(['cn=nobody', distinguished_names[0]]);
      await revoke(lease);
      expect(await members()).toEqual(['cn=nobody']);
    });

    test('creation stops at the first error, tells the record, and runs rollback_ldif past errors', async () => {
      const marker = `dn: ${GROUP}\nchangetype: modify\nreplace: description\ndescription: rolled back {{.Username}}\n-\n`;
      const failing = `dn: cn=none,${SVC}\nchangetype: modify\nadd: member\nmember: cn=x\n-\n`;
      const never = `dn: cn=never,${SVC}\nobjectClass: organizationalRole\ncn: never\n`;
      await write({
        creation_ldif: `${person}\n${failing}\n${never}`,
        deletion_ldif: removal,
        rollback_ldif: `${failing}\n${marker}\n${removal}`,
      });
      const answer = await creds();
      expect(answer.status).toBe(500);
      expect(answer.errors!.join()).toContain(
        'failed to create user: failed to execute statements: creation_ldif line 8: LDAP Result Code 32 "No Such Object"',
      );
      expect(await accounts()).toEqual([]);
      expect((await view.entry(GROUP))!.first('description')).toMatch(/^rolled back v_root_app_/);
    });

    test('a creation that failed half-way leaves no entry, also without rollback_ldif', async () => {
      await write({ creation_ldif: `${person}\ndn: ou=none,${SVC}\nobjectClass: nonsense\n`, deletion_ldif: removal });
      expect((await creds()).status).toBe(500);
      expect(await accounts()).toEqual([]);
    });

    test('deletion goes on past errors; it is done when the entries of the account are gone', async () => {
      const forbidden = 'dn: dc=example,dc=org\nchangetype: delete\n';
      await write({ creation_ldif: person, deletion_ldif: `${forbidden}\n${leaving}\n${removal}` });
      const { lease } = await issue();
      expect((await revoke(lease)).status).toBe(204);
      expect(await accounts()).toEqual([]);
    });

    test('deletion that is refused is tried again until it is done', async () => {
      await write({ creation_ldif: person, deletion_ldif: removal, default_ttl: '1h' });
      const { distinguished_names, lease } = await issue();
      const child = `cn=child,${distinguished_names[0]}`;
      await view.asAdmin(async (connection) =>
        connection.add(child, [
          { attribute: 'objectClass', values: ['organizationalRole'] },
          { attribute: 'cn', values: ['child'] },
        ]),
      );
      const answer = await revoke(lease);
      expect(answer.errors!.join()).toContain('Not Allowed On Non Leaf');
      await view.asAdmin(async (connection) => connection.delete(child));
      await pass(60);
      expect(await accounts()).toEqual([]);
    });

    test('a deletion_ldif with a wrong dn leaves no account: what is still there is deleted by its name', async () => {
      const wrong = `dn: uid={{.Username}},ou=people,dc=example,dc=org\nchangetype: delete\n`;
      const answer = await write({ creation_ldif: person, deletion_ldif: wrong });
      expect([answer.status, answer.warnings!.join()]).toEqual([
        200,
        expect.stringMatching(
          /^deletion_ldif does not delete uid=v_.*, which creation_ldif adds; the engine deletes it by its name when the lease ends$/,
        ),
      ]);
      const { username, password, lease } = await issue();
      expect(await view.takes(`uid=${username},${SVC}`, password)).toBe(true);
      expect((await revoke(lease)).status).toBe(204);
      expect(await accounts()).toEqual([]);
    });

    test('a deletion_ldif that is acknowledged and deletes nothing leaves no account either', async () => {
      const harmless = `dn: uid={{.Username}},${SVC}\nchangetype: modify\nreplace: description\ndescription: gone\n-\n`;
      expect((await write({ creation_ldif: person, deletion_ldif: harmless })).warnings!.join()).toContain('deletion_ldif does not delete');
      const { lease } = await issue();
      expect((await revoke(lease)).status).toBe(204);
      expect(await accounts()).toEqual([]);
    });

    test('an account that can be deleted by no name keeps its lease, which says which entry is there still, and why', async () => {
      const wrong = `dn: uid={{.Username}},ou=people,dc=example,dc=org\nchangetype: delete\n`;
      await write({ creation_ldif: person, deletion_ldif: wrong, default_ttl: '1h' });
      const { distinguished_names, lease } = await issue();
      const [dn] = distinguished_names;
      const child = `cn=child,${dn}`;
      await view.asAdmin(async (connection) =>
        connection.add(child, [
          { attribute: 'objectClass', values: ['organizationalRole'] },
          { attribute: 'cn', values: ['child'] },
        ]),
      );
      const { errors } = await revoke(lease);
      expect(errors!.join()).toContain(`after deletion_ldif "${dn}" is still there, and cannot be deleted: LDAP Result Code 66`);
      expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: lease } })).status).toBe(200);
      await view.asAdmin(async (connection) => connection.delete(child));
      // A write of the configuration has what failed tried again at once.
      await mount.write('config', { ttl: 0 });
      await mount.advance(1);
      expect(await accounts()).toEqual([]);
      expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: lease } })).status).toBe(400);
    });

    test('a creation_ldif that does not use the password is warned of at write', async () => {
      const { warnings } = await write({ creation_ldif: person.replace('{{.Password}}', 'fixed'), deletion_ldif: removal });
      expect(warnings).toEqual(['creation_ldif does not use {{.Password}}: the account does not get the password that is issued']);
      const encoded = person.replace('userPassword: {{.Password}}', 'userPassword:: {{.Password | base64}}');
      expect((await write({ creation_ldif: encoded, deletion_ldif: removal })).status).toBe(204);
    });

    test('an entry that creation_ldif adds under a name of its own, and deletion_ldif does not name, is warned of at write', async () => {
      const fixed = `dn: cn=fixed,${SVC}\nobjectClass: organizationalRole\ncn: fixed\n`;
      const { warnings } = await write({ creation_ldif: `${fixed}\n${person}`, deletion_ldif: removal });
      expect(warnings!.join()).toContain(
        `deletion_ldif does not delete cn=fixed,${SVC}, which creation_ldif adds; its name does not hold the generated name, so it stays in the directory`,
      );
      const renamed = `dn: uid={{.Username}},${SVC}\nchangetype: modrdn\nnewrdn: uid=x\ndeleteoldrdn: 1\n`;
      expect((await write({ creation_ldif: person, deletion_ldif: renamed })).status).toBe(204);
      expect((await write({ ...role, deletion_ldif: removal.toUpperCase().replace('{{.USERNAME}}', '{{.Username}}') })).status).toBe(204);
    });

    test('deletion of what is gone already succeeds', async () => {
      await write({ creation_ldif: `${person}\n${joining}`, deletion_ldif: `${leaving}\n${removal}` });
      const { distinguished_names, lease } = await issue();
      await view.asAdmin(async (connection) => connection.delete(distinguished_names[0]!));
      expect((await revoke(lease)).status).toBe(204);
      expect(await members()).toEqual(['cn=nobody']);
    });

    test.each(['request', 'answer'] as const)(
      'when the connection dies with the %s of a change lost, nothing is left over',
      async (loss) => {
        await write({ creation_ldif: `${person}\n${joining}`, deletion_ldif: `${leaving}\n${removal}` });
        for (const change of [0, 1]) {
          cutter.cutAt(change, loss, 'changes');
          expect((await creds()).status).toBe(500);
          await pass(300);
          expect(await accounts()).toEqual([]);
          expect(await members()).toEqual(['cn=nobody']);
        }
      },
    );

    test('a lease that is dropped by force leaves its account to the operator, and its name free once that is gone', async () => {
      await write({ ...role, username_template: 'forced-{{.RoleName}}' });
      const { lease, distinguished_names, password } = await issue();
      cutter.shut();
      expect((await mount.call('update', 'sys/leases/revoke-force/ldap/creds')).status).toBe(200);
      cutter.open();
      expect(await mount.call('update', 'sys/leases/lookup', { data: { lease_id: lease } })).toMatchObject({ status: 400 });
      expect(await view.takes(distinguished_names[0]!, password)).toBe(true);
      expect((await creds()).errors!.join()).toContain('exists already');
      await view.asAdmin(async (connection) => connection.delete(distinguished_names[0]!));
      await revoke((await issue()).lease);
    });

    test('names that repeat do not take another account away', async () => {
      await write({ ...role, username_template: 'fixed-{{.RoleName}}' });
      const { lease, distinguished_names, password } = await issue();
      const again = await creds();
      expect({ status: again.status, errors: again.errors!.join() }).toEqual({
        status: 400,
        errors: expect.stringContaining('names that repeat'),
      });
      await pass(300);
      expect(await view.takes(distinguished_names[0]!, password)).toBe(true);
      await revoke(lease);
      const { lease: second } = await issue();
      await revoke(second);
      await view.asAdmin(async (connection) =>
        connection.add(distinguished_names[0]!, [
          { attribute: 'objectClass', values: ['account'] },
          { attribute: 'uid', values: ['fixed-app'] },
        ]),
      );
      expect((await creds()).errors!.join()).toContain('exists already');
      await pass(300);
      expect(await accounts()).toEqual(distinguished_names);
    });
  });

  describe('templates', () => {
    const seen = async (field: string, more: Record<string, unknown> = {}): Promise<{ value: string; issued: Issued }> => {
      await write({ ...role, creation_ldif: `${person}description: ${field}\n`, default_ttl: '1h', ...more });
      const issued = await issue();
      const entry = await view.entry(issued.distinguished_names[0]!);
      return { value: entry!.first('description')!, issued };
    };

    test.each<[string, (issued: Issued, now: number) => string]>([
      ['{{.Username}}', ({ username }) => username],
      ['{{ .Password }}', ({ password }) => password],
      ['{{.RoleName}}', () => 'app'],
      ['{{.DisplayName}}', () => 'root'],
      ['{{.IssueTime}}', (_, now) => new Date(now).toISOString().replace('.000', '')],
      ['{{.IssueTimeSeconds}}', (_, now) => String(now / 1_000)],
      ['{{.ExpirationTime}}', (_, now) => new Date(now + 3_600_000).toISOString().replace('.000', '')],
      ['{{.ExpirationTimeSeconds}}', (_, now) => String(now / 1_000 + 3_600)],
      ['{{.RoleName | uppercase}}', () => 'APP'],
      ['{{"ABC" | lowercase}}', () => 'abc'],
      ['{{.RoleName | replace "p" "_"}}', () => 'a__'],
      ['{{"abcdefghij" | truncate 4}}', () => 'abcd'],
      ['{{"abcdefghijklmnop" | truncate_sha256 12}}', () => `abcd${createHash('sha256').update('efghijklmnop').digest('hex').slice(0, 8)}`],
      ['{{"x" | sha256}}', () => createHash('sha256').update('x').digest('hex')],
      ['{{"text" | base64}}', () => 'dGV4dA=='],
      ['{{"pw" | utf16le | base64}}', () => Buffer.from('pw', 'utf16le').toString('base64')],
      ['{{printf "%q" .RoleName | utf16le | base64}}', () => Buffer.from('"app"', 'utf16le').toString('base64')],
      ['{{unix_time}}', (_, now) => String(now / 1_000)],
      ['{{unix_time_millis}}', (_, now) => String(now)],
      ['{{timestamp "2006-01-02T15:04:05Z"}}', (_, now) => new Date(now).toISOString().replace('.000', '')],
      ['{{printf "%s/%d" .RoleName 7}}', () => 'app/7'],
      ['{{.RoleName | uppercase | truncate 2 | replace "P" "-x_"}}', () => 'A-x_'],
    ])('creation_ldif: %s', async (template, wanted) => {
      const { value, issued } = await seen(template);
      expect(value).toBe(wanted(issued, mount.clock.millis()));
    });

    test('creation_ldif: {{random 20}} and {{uuid}} differ every time', async () => {
      const first = (await seen('{{random 20}} {{uuid}}')).value;
      expect(first).toMatch(/^[A-Za-z0-9]{20} [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect((await seen('{{random 20}} {{uuid}}')).value).not.toBe(first);
    });

    test('username_template: functions, and the dashes and underscores of a display name are kept', async () => {
      const token = await mount.call('update', 'auth/token/create', { data: { display_name: 'my-team_x', policies: ['root'] } });
      await write({ ...role, username_template: '{{.DisplayName | uppercase | truncate 12}}_{{.RoleName}}_{{random 4}}' });
      const answer = await mount.call('read', 'ldap/creds/app', { token: token.auth!.client_token });
      expect(dataOf<Issued>(answer).username).toMatch(/^TOKEN-MY-TEA_app_[A-Za-z0-9]{4}$/);
    });

    test('what a caller chose for a display name cannot add lines or change the place of the entry', async () => {
      const display_name = 'x,ou=admins\nuserPassword: mine';
      const token = await mount.call('update', 'auth/token/create', { data: { display_name, policies: ['root'] } });
      await write(role);
      const answer = await mount.call('read', 'ldap/creds/app', { token: token.auth!.client_token });
      const { username, distinguished_names } = dataOf<Issued>(answer);
      expect(username).toMatch(/^v_token-x-ou-admins-userPassword--mine_app_/);
      expect((await accounts()).map((dn) => dn.toLowerCase())).toEqual(distinguished_names.map((dn) => dn.toLowerCase()));
    });
  });

  describe('POST role/:name/preview', () => {
    const preview = async (data: Record<string, unknown> = {}) => mount.call('update', 'ldap/role/app/preview', { data });

    test('renders the stored role with sample values, and changes nothing', async () => {
      await write({ ...role, rollback_ldif: removal });
      const answer = await preview({ display_name: 'ada' });
      expect(answer.status).toBe(200);
      const shown = dataOf<Record<string, string> & Issued>(answer);
      expect(shown.username).toMatch(/^v_ada_app_[A-Za-z0-9]{10}_\d+$/);
      expect(shown.distinguished_names).toEqual([`uid=${shown.username},${SVC}`]);
      expect(shown['creation_ldif']).toBe(person.replaceAll('{{.Username}}', shown.username).replace('{{.Password}}', 'sample-password'));
      expect(shown['deletion_ldif']).toBe(removal.replace('{{.Username}}', shown.username));
      expect(shown['rollback_ldif']).toBe(shown['deletion_ldif']);
      expect(await accounts()).toEqual([]);
    });

    test('{{.ExpirationTimeSeconds}} is when a lease of the role would end: by its own terms, or by ttl and max_ttl of the configuration', async () => {
      const timed = `${person}description: {{.IssueTimeSeconds}} {{.ExpirationTimeSeconds}}\n`;
      const lifetime = (ldif: string | undefined): number => {
        const [, issued, expires] = /description: (\d+) (\d+)/.exec(ldif!)!;
        return Number(expires) - Number(issued);
      };
      await write({ ...role, creation_ldif: timed });
      const previewed = async (data: Record<string, unknown> = {}) =>
        lifetime(dataOf<Record<string, string>>(await preview(data))['creation_ldif']);
      await mount.write('config', { ttl: '10m', max_ttl: '20m' });
      expect(await previewed()).toBe(600);
      expect((await mount.read('creds/app')).leaseDuration).toBe(600);
      expect(await previewed({ default_ttl: '15m' })).toBe(900);
      await mount.write('config', { ttl: 0, max_ttl: '20m' });
      expect(await previewed()).toBe((await mount.read('creds/app')).leaseDuration);
      await mount.delete('config');
      expect(await previewed({ default_ttl: '15m' })).toBe(900);
    });

    test('the names and the LDIF are of one rendering, also where that is another one every time', async () => {
      const dn = `uid={{.Username}}-{{uuid}},${SVC}`;
      const answer = await preview({ ...role, creation_ldif: person.replace(/^dn: .*/, `dn: ${dn}`) });
      const shown = dataOf<Record<string, string> & Issued>(answer);
      expect(shown['creation_ldif']).toContain(`dn: ${shown.distinguished_names[0]!}\n`);
    });

    test('renders what is not stored, alone or over what is, and tells what is wrong with it', async () => {
      expect((await preview(role)).status).toBe(200);
      expect((await mount.call('read', 'ldap/role/app')).status).toBe(404);
      expect((await preview({ ...role, creation_ldif: 'dn: x' })).errors!.join()).toContain('invalid creation_ldif: LDIF line 1');
      await write(role);
      const over = dataOf<Issued>(await preview({ username_template: 'other-{{.RoleName}}' }));
      expect(over.username).toBe('other-app');
      expect((await stored())['username_template']).toBe('');
    });
  });
});
