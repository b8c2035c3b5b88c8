import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { startLdapCutter, type LdapCutter } from './ldap-cutter.ts';
import { dataOf, DirectoryView, managerDn, managerPassword, mountLdap, SVC, withManager } from './ldap-mount.ts';

interface Cred {
  dn: string;
  username: string;
  password: string;
  last_password: string;
  ttl: number;
  rotation_period: number;
  last_vault_rotation: string;
}

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('static-role', () => {
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
    cutter.open();
    mount = await mountLdap(cutter);
  });
  afterEach(async () => mount.close());

  const dnOf = (uid: string): string => `uid=${uid},${SVC}`;
  const write = async (name: string, data: Record<string, unknown>) => mount.call('update', `ldap/static-role/${name}`, { data });
  const cred = async (name: string): Promise<Cred> => dataOf<Cred>(await mount.read(`static-cred/${name}`));
  const statusOf = async (name: string) =>
    dataOf<{ status: { state: string; last_error: { message: string } | null; attempts: number; next_attempt: string | null } }>(
      await mount.read(`static-role/${name}`),
    ).status;
  const expectRefused = async (name: string, data: Record<string, unknown>, text: string): Promise<void> => {
    const { status, errors } = await write(name, data);
    expect({ status, errors: errors?.join() }).toEqual({ status: 400, errors: expect.stringContaining(text) });
  };

  describe('POST static-role/:role_name', () => {
    test('rotates the password at once, which nobody else knows then; GET static-role/:role_name shows the role with its status, and not the password', async () => {
      expect((await write('a', { username: 'svc1', dn: dnOf('svc1'), rotation_period: '24h' })).status).toBe(204);
      const { password, last_password } = await cred('a');
      expect(await view.takes(dnOf('svc1'), password)).toBe(true);
      expect(last_password).toBe('');
      const answer = await mount.read('static-role/a');
      expect(answer.data).toEqual({
        dn: dnOf('svc1'),
        username: 'svc1',
        rotation_period: 86_400,
        last_vault_rotation: mount.clock.now().toISOString(),
        status: {
          state: 'waiting',
          attempts: 0,
          last_error: null,
          last_success: mount.clock.now().toISOString(),
          next_attempt: new Date(mount.clock.millis() + 86_400_000).toISOString(),
        },
      });
    });

    test('username: required, found below userdn by userattr, and never changed', async () => {
      await expectRefused('a', { rotation_period: '1h' }, 'username is a required field to manage a static account');
      await expectRefused('a', { username: '', rotation_period: '1h' }, 'username must not be empty');
      await expectRefused('a', { username: 'nosuch', rotation_period: '1h' }, 'expected one matching entry, but received 0');
      expect((await mount.call('read', 'ldap/static-role/a')).status).toBe(404);
      await write('a', { username: 'svc1', rotation_period: '1h' });
      await expectRefused('a', { username: 'svc2', rotation_period: '1h' }, 'cannot update static account username');
      await expectRefused('a', { username: '' }, 'username must not be empty');
      expect((await write('a', { username: 'svc1', rotation_period: '2h' })).status).toBe(204);
      expect((await write('a', { rotation_period: '3h' })).status).toBe(204);
      expect((await cred('a')).rotation_period).toBe(10_800);
    });

    test('dn: wins over the username, must exist, and is never changed', async () => {
      await expectRefused('a', { username: 'x', dn: dnOf('nosuch'), rotation_period: '1h' }, 'expected one matching entry, but received 0');
      expect((await write('a', { username: 'any', dn: dnOf('svc2'), rotation_period: '1h' })).status).toBe(204);
      expect(await view.takes(dnOf('svc2'), (await cred('a')).password)).toBe(true);
      await expectRefused('a', { dn: dnOf('svc3') }, 'cannot update static account distinguished name (dn)');
      expect((await write('a', { dn: `UID=svc2, ${SVC}`, rotation_period: '2h' })).status).toBe(204);
    });

    test('dn: what is not a distinguished name is refused', async () => {
      await expectRefused('a', { username: 'svc1', dn: 'garbage', rotation_period: '1h' }, 'dn: "garbage" is not a distinguished name');
    });

    test('while the directory is away nothing is stored, and nothing is rotated later', async () => {
      await view.setPassword(dnOf('svc1'), 'as-it-was');
      cutter.shut();
      expect((await write('a', { username: 'svc1', rotation_period: '1h' })).status).toBe(500);
      expect((await mount.call('read', 'ldap/static-role/a')).status).toBe(404);
      cutter.open();
      for (let i = 0; i < 10; i += 1) await mount.advance(30);
      expect(await view.takes(dnOf('svc1'), 'as-it-was')).toBe(true);
    });

    test('a directory that goes away between the search and the change: nothing is stored', async () => {
      await view.setPassword(dnOf('svc1'), 'as-it-was');
      // A bind, the search for the account, and the search before the change.
      cutter.cutAt(2, 'request');
      const gone = cutter.cut().then(() => cutter.shut());
      expect((await write('a', { username: 'svc1', rotation_period: '1h' })).status).toBe(500);
      await gone;
      expect((await mount.call('read', 'ldap/static-role/a')).status).toBe(404);
      cutter.open();
      for (let i = 0; i < 10; i += 1) await mount.advance(30);
      expect(await view.takes(dnOf('svc1'), 'as-it-was')).toBe(true);
    });

    test('rotation_period: required, a duration of at least 5 seconds', async () => {
      await expectRefused('a', { username: 'svc1' }, 'rotation_period is required to create static accounts');
      await expectRefused('a', { username: 'svc1', rotation_period: '4s' }, 'rotation_period must be 5 seconds or more');
      await expectRefused('a', { username: 'svc1', rotation_period: 'soon' }, 'rotation_period');
      expect((await write('a', { username: 'svc1', rotation_period: '5s' })).status).toBe(204);
      expect((await cred('a')).rotation_period).toBe(5);
    });

    test('an account is in one static role alone, by name or by distinguished name', async () => {
      await write('a', { username: 'svc1', rotation_period: '1h' });
      await expectRefused('b', { username: 'svc1', rotation_period: '1h' }, '"svc1" is already managed by the secrets engine');
      await expectRefused('b', { username: 'SVC1', rotation_period: '1h' }, '"SVC1" is already managed');
      await expectRefused('b', { username: 'other', dn: dnOf('svc1'), rotation_period: '1h' }, '"other" is already managed');
      await expectRefused('b', { username: 'svc1', rotation_period: '1h', skip_import_rotation: true }, '"svc1" is already managed');
      await mount.delete('static-role/a');
      expect((await write('b', { username: 'svc1', rotation_period: '1h' })).status).toBe(204);
    });

    test('a creation that failed leaves no claim on the account', async () => {
      await view.asAdmin(async (connection) =>
        connection.add(dnOf('device'), [
          { attribute: 'objectClass', values: ['account'] },
          { attribute: 'uid', values: ['device'] },
        ]),
      );
      expect((await write('a', { username: 'device', rotation_period: '1h' })).status).toBe(500);
      await view.asAdmin(async (connection) => connection.delete(dnOf('device')));
      await view.asAdmin(async (connection) =>
        connection.add(dnOf('device'), [
          { attribute: 'objectClass', values: ['account', 'simpleSecurityObject'] },
          { attribute: 'uid', values: ['device'] },
          { attribute: 'userPassword', values: ['x'] },
        ]),
      );
      expect((await write('b', { username: 'device', rotation_period: '1h' })).status).toBe(204);
    });

    test('skip_import_rotation: the account must be there, and is in no other static role under another name', async () => {
      const skipped = { rotation_period: '1h', skip_import_rotation: true };
      await expectRefused('a', { username: 'nosuch', ...skipped }, 'expected one matching entry, but received 0');
      expect((await write('a', { username: 'svc1', ...skipped })).status).toBe(204);
      await expectRefused('b', { username: 'alias', dn: dnOf('svc1'), rotation_period: '1h' }, '"alias" is already managed');
      await expectRefused('b', { username: 'alias', dn: dnOf('svc1'), ...skipped }, '"alias" is already managed');
    });

    test('skip_import_rotation: what comes while the role is made without it is refused with 429, and the new password is kept', async () => {
      const skip = { username: 'svc6', rotation_period: '1h', skip_import_rotation: true };
      cutter.stall('changes');
      const making = write('a', { username: 'svc6', rotation_period: '1h' });
      await cutter.stalled();
      const late = await write('a', skip);
      cutter.resume();
      expect((await making).status).toBe(204);
      expect({ status: late.status, errors: late.errors }).toEqual({ status: 429, errors: [expect.stringContaining('being written')] });
      expect(await view.takes(dnOf('svc6'), (await cred('a')).password)).toBe(true);
    });

    test('a creation whose answer was lost keeps the password that is in force, also when it is begun again and fails before anything is sent', async () => {
      const made = { username: 'svc8', rotation_period: '1h' };
      const cutOff = async (n: number, loss: 'request' | 'answer', counted: 'calls' | 'changes') => {
        cutter.cutAt(n, loss, counted);
        const gone = cutter.cut().then(() => cutter.shut());
        const answer = await write('a', made);
        await gone;
        cutter.open();
        return answer.status;
      };
      expect(await cutOff(0, 'answer', 'changes')).toBe(500);
      // A bind, the search for the account, and the search before the change.
      expect(await cutOff(2, 'request', 'calls')).toBe(500);
      for (let i = 0; i < 10; i += 1) await mount.advance(30);
      expect(await view.takes(dnOf('svc8'), (await cred('a')).password)).toBe(true);
    });

    test('skip_import_rotation: a role whose password may or may not have been changed is not replaced', async () => {
      cutter.cutAt(0, 'answer', 'changes');
      const gone = cutter.cut().then(() => cutter.shut());
      const made = await write('a', { username: 'svc7', rotation_period: '1h' });
      await gone;
      cutter.open();
      expect(made.status).toBe(500);
      const skip = { username: 'svc7', rotation_period: '1h', skip_import_rotation: true };
      await expectRefused('a', skip, 'its password may have been changed');
      for (let i = 0; i < 5; i += 1) await mount.advance(30);
      expect(await view.takes(dnOf('svc7'), (await cred('a')).password)).toBe(true);
    });

    test('skip_import_rotation: the password stays as it is until the period is over, and only at creation', async () => {
      await view.setPassword(dnOf('svc5'), 'as-it-was');
      await write('a', { username: 'svc5', rotation_period: '1h', skip_import_rotation: true });
      expect(await view.takes(dnOf('svc5'), 'as-it-was')).toBe(true);
      expect(await cred('a')).toMatchObject({ password: '', last_password: '', ttl: 0, last_vault_rotation: '0001-01-01T00:00:00Z' });
      await expectRefused('a', { username: 'svc5', skip_import_rotation: false }, 'skip_import_rotation has no effect on updates');
      await mount.advance('1h');
      expect(await view.takes(dnOf('svc5'), (await cred('a')).password)).toBe(true);
    });

    test('the role name is lower-cased', async () => {
      await write('Team', { username: 'svc1', rotation_period: '1h' });
      expect((await mount.list('static-role')).data).toEqual({ keys: ['team'] });
      expect((await cred('TEAM')).username).toBe('svc1');
    });
  });

  test('GET static-role and LIST static-role list the names; none is 404', async () => {
    expect((await mount.call('list', 'ldap/static-role')).status).toBe(404);
    expect((await mount.call('read', 'ldap/static-role')).status).toBe(404);
    await write('b', { username: 'svc1', rotation_period: '1h' });
    await write('a', { username: 'svc2', rotation_period: '1h' });
    expect((await mount.list('static-role')).data).toEqual({ keys: ['a', 'b'] });
    expect((await mount.read('static-role')).data).toEqual({ keys: ['a', 'b'] });
    expect((await mount.read('static-role', { after: 'a' })).data).toEqual({ keys: ['b'] });
  });

  test('GET static-role/:role_name of what is not there is 404, GET static-cred/:role_name and POST rotate-role/:role_name are 400', async () => {
    expect(await mount.call('read', 'ldap/static-role/none')).toMatchObject({ status: 404, errors: [] });
    expect(await mount.call('read', 'ldap/static-cred/none')).toMatchObject({ status: 400, errors: ['unknown role: none'] });
    expect(await mount.call('update', 'ldap/rotate-role/none')).toMatchObject({ status: 400, errors: ["role doesn't exist: none"] });
  });

  test('DELETE static-role/:role_name ends the rotation and leaves the account as it is', async () => {
    await write('a', { username: 'svc1', rotation_period: '1h' });
    const { password } = await cred('a');
    expect((await mount.call('delete', 'ldap/static-role/a')).status).toBe(204);
    expect((await mount.call('delete', 'ldap/static-role/a')).status).toBe(204);
    await mount.advance('3h');
    expect(await view.takes(dnOf('svc1'), password)).toBe(true);
  });

  test('GET static-cred/:role_name: password, last_password, and the time to the next rotation in ttl', async () => {
    await write('a', { username: 'svc1', rotation_period: '1h' });
    const first = await cred('a');
    expect(first).toEqual({
      dn: '',
      username: 'svc1',
      password: expect.stringMatching(/^[A-Za-z0-9]{64}$/),
      last_password: '',
      ttl: 3_600,
      rotation_period: 3_600,
      last_vault_rotation: mount.clock.now().toISOString(),
    });
    await mount.advance('20m');
    expect((await cred('a')).ttl).toBe(2_400);
    await mount.advance('40m');
    const second = await cred('a');
    expect(second).toMatchObject({ last_password: first.password, ttl: 3_600 });
    expect(await view.takes(dnOf('svc1'), second.password)).toBe(true);
    expect(await view.takes(dnOf('svc1'), first.password)).toBe(false);
  });

  test('POST rotate-role/:role_name rotates now, and the time to the next rotation starts again', async () => {
    await write('a', { username: 'svc1', rotation_period: '1h' });
    const first = await cred('a');
    await mount.advance('30m');
    expect((await mount.call('update', 'ldap/rotate-role/a')).status).toBe(204);
    const second = await cred('a');
    expect(second).toMatchObject({ last_password: first.password, ttl: 3_600 });
    expect(await view.takes(dnOf('svc1'), second.password)).toBe(true);
  });

  test('rotation_schedule rotates by the calendar', async () => {
    await mount.clock.set('2030-01-01T10:00:00Z');
    await write('a', { username: 'svc1', rotation_schedule: '30 12 * * *' });
    const { password } = await cred('a');
    await mount.advance('2h29m');
    expect((await cred('a')).password).toBe(password);
    await mount.advance('1m');
    expect((await cred('a')).last_password).toBe(password);
  });

  test('a failing rotation is shown, is in GET failing, keeps the password, and is tried again until it is through', async () => {
    await write('a', { username: 'svc1', rotation_period: '1h' });
    await write('b', { username: 'svc2', rotation_period: '24h' });
    const { password } = await cred('a');
    cutter.shut();
    await mount.advance('1h');
    const status = await statusOf('a');
    expect(status).toMatchObject({
      state: 'failing',
      attempts: 1,
      last_error: { message: expect.stringContaining('Network Error') },
    });
    expect(status.next_attempt).not.toBeNull();
    expect(Object.keys(dataOf<{ static_roles: object }>(await mount.read('failing')).static_roles)).toEqual(['a']);
    expect((await cred('a')).password).toBe(password);
    cutter.open();
    for (let i = 0; i < 20; i += 1) await mount.advance(30);
    expect((await cred('a')).last_password).toBe(password);
    expect(await statusOf('a')).toMatchObject({ state: 'waiting', attempts: 0, last_error: null });
    expect(dataOf<{ static_roles: object }>(await mount.read('failing')).static_roles).toEqual({});
  });

  test('POST rotate-role/:role_name while the directory is away is tried again in the background, as the answer says', async () => {
    await write('a', { username: 'svc1', rotation_period: '24h' });
    const { password } = await cred('a');
    cutter.shut();
    const answer = await mount.call('update', 'ldap/rotate-role/a');
    expect(answer.status).toBe(500);
    expect(answer.errors!.join()).toContain('retries will continue in the background');
    await mount.advance(30);
    expect((await cred('a')).password).toBe(password);
    expect(await statusOf('a')).toMatchObject({ state: 'failing', last_error: { message: expect.stringContaining('Network Error') } });
    cutter.open();
    for (let i = 0; i < 10; i += 1) await mount.advance(30);
    const rotated = await cred('a');
    expect(rotated.last_password).toBe(password);
    expect(await view.takes(dnOf('svc1'), rotated.password)).toBe(true);
    expect(await statusOf('a')).toMatchObject({ state: 'waiting', attempts: 0, last_error: null });
  });

  test('a password that the directory acknowledges and does not take is no success: the role says so, and both passwords are kept', async () => {
    // The directory lets this account log in by another attribute than the one that is changed.
    const strange = `cn=strange,${SVC}`;
    await view.asAdmin(async (connection) =>
      connection.add(strange, [
        { attribute: 'objectClass', values: ['person'] },
        { attribute: 'cn', values: ['strange'] },
        { attribute: 'sn', values: ['strange'] },
        { attribute: 'userPassword', values: ['x'] },
      ]),
    );
    await write('a', { username: 'strange', dn: strange, rotation_period: '24h' });
    const before = (await cred('a')).password;
    // A server that acknowledges the change of one account and makes it to another.
    cutter.redirect(strange, `cn=strangf,${SVC}`);
    await view.asAdmin(async (connection) =>
      connection.add(`cn=strangf,${SVC}`, [
        { attribute: 'objectClass', values: ['person'] },
        { attribute: 'cn', values: ['strangf'] },
        { attribute: 'sn', values: ['strangf'] },
        { attribute: 'userPassword', values: ['x'] },
      ]),
    );
    const answer = await mount.call('update', 'ldap/rotate-role/a');
    expect([answer.status, answer.errors!.join()]).toEqual([
      500,
      expect.stringContaining('the change was acknowledged, but the old credential is still the one that is taken'),
    ]);
    expect(await view.takes(strange, before)).toBe(true);
    expect((await cred('a')).password).toBe(before);
    cutter.redirect('', '');
    for (let i = 0; i < 10; i += 1) await mount.advance(30);
    expect(await view.takes(strange, (await cred('a')).password)).toBe(true);
    expect((await cred('a')).last_password).toBe(before);
  });

  test('during an outage the status says that no login got an answer, not that a password is refused', async () => {
    await write('a', { username: 'svc1', rotation_period: '24h' });
    cutter.cutAt(0, 'answer', 'changes');
    const cut = cutter.cut().then(() => cutter.shut());
    await mount.call('update', 'ldap/rotate-role/a');
    await cut;
    await mount.advance(30);
    expect(await statusOf('a')).toMatchObject({ state: 'failing', login: 'unreachable' });
    expect((await statusOf('a')).last_error!.message).not.toMatch(/taken|refused by/);
    cutter.open();
    for (let i = 0; i < 10; i += 1) await mount.advance(30);
    expect(await statusOf('a')).not.toHaveProperty('login');
    cutter.shut();
    await mount.call('update', 'ldap/rotate-role/a');
    expect(await statusOf('a')).toMatchObject({ login: 'not_tried' });
    cutter.open();
  });

  test('POST rotate-role/:role_name of an account that is gone says so, and keeps what is known', async () => {
    await view.asAdmin(async (connection) =>
      connection.add(dnOf('passing'), [
        { attribute: 'objectClass', values: ['account', 'simpleSecurityObject'] },
        { attribute: 'uid', values: ['passing'] },
        { attribute: 'userPassword', values: ['x'] },
      ]),
    );
    await write('a', { username: 'passing', rotation_period: '1h' });
    const { password } = await cred('a');
    await view.asAdmin(async (connection) => connection.delete(dnOf('passing')));
    const answer = await mount.call('update', 'ldap/rotate-role/a');
    expect(answer.errors!.join()).toContain('expected one matching entry, but received 0');
    expect((await cred('a')).password).toBe(password);
    expect(await statusOf('a')).toMatchObject({ last_error: { message: expect.stringContaining('expected one matching entry') } });
  });

  describe.each(['request', 'answer'] as const)(
    'when the connection dies with the %s of a change lost, and the directory stays away',
    (loss) => {
      const dieInChange = async (work: () => Promise<{ status: number; errors?: readonly string[] }>) => {
        cutter.cutAt(0, loss, 'changes');
        const cut = cutter.cut().then(() => cutter.shut());
        const answer = await work();
        await cut;
        return answer;
      };

      test('rotate-role keeps both passwords, answers with a warning, and finds out which one is good', async () => {
        await write('a', { username: 'svc1', rotation_period: '24h' });
        const before = (await cred('a')).password;
        const answer = await dieInChange(async () => mount.call('update', 'ldap/rotate-role/a'));
        expect(answer.status).toBe(500);
        expect(answer.errors!.join()).toContain(
          'unable to finish rotating credentials; retries will continue in the background but it is also safe to retry manually: ',
        );
        const doubtful = await mount.read('static-cred/a');
        expect(doubtful.warnings!.join()).toContain('its outcome is not known yet');
        expect(dataOf<Cred>(doubtful).password).toBe(before);
        expect(await statusOf('a')).toMatchObject({ state: 'unsettled' });
        cutter.open();
        const known = await mount.read('static-cred/a');
        expect(known.warnings).toBeNull();
        const { password, last_password } = dataOf<Cred>(known);
        expect(await view.takes(dnOf('svc1'), password)).toBe(true);
        expect({ isNew: password !== before, last_password }).toEqual({
          isNew: loss === 'answer',
          last_password: loss === 'answer' ? before : '',
        });
        for (let i = 0; i < 10; i += 1) await mount.advance(30);
        const after = await cred('a');
        expect(after.last_password).toBe(before);
        expect(await view.takes(dnOf('svc1'), after.password)).toBe(true);
        expect(await statusOf('a')).toMatchObject({ state: 'waiting', last_error: null });
      });

      test('a creation keeps the role, says so, and is finished in the background', async () => {
        await view.setPassword(dnOf('svc1'), 'as-it-was');
        const answer = await dieInChange(async () => write('a', { username: 'svc1', rotation_period: '24h' }));
        expect(answer.status).toBe(500);
        expect(answer.errors!.join()).toContain('the role is kept, and the rotation is retried in the background');
        expect((await mount.call('read', 'ldap/static-cred/a')).status).toBe(503);
        cutter.open();
        for (let i = 0; i < 10; i += 1) await mount.advance(30);
        expect(await view.takes(dnOf('svc1'), (await cred('a')).password)).toBe(true);
      });
    },
  );

  describe('another address of the directory', () => {
    const writeAs = async (token: string, data: Record<string, unknown>) => {
      const { status, errors = [] } = await mount.call('update', 'ldap/config', { data, token });
      return [status, ...errors!].join();
    };
    const tokenWith = async (...capabilities: string[]): Promise<string> => {
      const policy = `path "ldap/config" { capabilities = ${JSON.stringify(capabilities)} }`;
      await mount.call('update', `sys/policies/acl/${capabilities.join('-')}`, { data: { policy } });
      return (await mount.call('update', 'auth/token/create', { data: { policies: [capabilities.join('-')] } })).auth!.client_token;
    };
    const refused = (holder: string) =>
      `400,url: a new value sends the stored passwords of accounts, such as that of the ${holder}, to another address; use a token whose policy grants sudo on this path, or another mount`;
    let own: Record<string, unknown>;
    beforeEach(() => {
      own = { url: slapd.url, binddn: 'cn=mine', bindpass: 'mine' };
    });

    test('needs sudo where a static role has a password, also with a bindpass, since a rotation may log in with it there', async () => {
      const token = await tokenWith('create', 'update', 'delete');
      expect(await writeAs(token, own)).toBe('204');
      await mount.write('config', { ...own, url: cutter.url, binddn: managerDn, bindpass: managerPassword });
      await write('unknown', { username: 'svc2', dn: dnOf('svc2'), rotation_period: '24h', skip_import_rotation: true });
      expect(await writeAs(token, own)).toBe('204');
      await mount.write('config', { ...own, url: cutter.url, binddn: managerDn, bindpass: managerPassword });
      await write('app', { username: 'svc1', dn: dnOf('svc1'), rotation_period: '24h' });
      expect(await writeAs(token, own)).toBe(refused('static role "app"'));
      expect(await writeAs(token, { ...own, url: cutter.url })).toBe('204');
      expect(await writeAs(await tokenWith('update', 'sudo'), own)).toBe('204');
    });

    test('needs sudo where an account of the library has a password', async () => {
      await mount.write('library/set', { service_account_names: 'svc3' });
      await mount.advance(0);
      expect(await writeAs(await tokenWith('update'), own)).toBe(refused('library account "svc3"'));
    });

    test('is no other way to it where the configuration is deleted and written again', async () => {
      const token = await tokenWith('create', 'update', 'delete');
      await write('app', { username: 'svc1', dn: dnOf('svc1'), rotation_period: '24h' });
      expect((await mount.call('delete', 'ldap/config', { token })).status).toBe(204);
      expect(await writeAs(token, own)).toBe(refused('static role "app"'));
      expect(await writeAs(await tokenWith('create', 'sudo'), own)).toBe('204');
    });
  });
});
