import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { killableMount, manualClock, type KillableMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { createDirectory, LdapError } from '@strongroom/ldap-client';
import { ldapSecrets } from '../../ldap-secrets/src/index.ts';
import { dieAtCall } from '../../ldap-secrets/test/die-at-call.ts';
import { startLdapCutter, type LdapCutter, type Loss } from '../../ldap-secrets/test/ldap-cutter.ts';
import { ldapAuth } from '../src/index.ts';
import { groups, mounted, people, type MountedLdap } from './mounted.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const searcherDn = 'cn=searcher,dc=example,dc=org';
const first = 'searcher-first';
const withSearcher = {
  ldif: `dn: ${searcherDn}\nobjectClass: person\ncn: searcher\nsn: searcher\nuserPassword: ${first}\n`,
  config: `access to attrs=userPassword by anonymous auth by self write by * none\naccess to * by dn.exact="${searcherDn}" read by self read by * none`,
};

describeWithSlapd('rotation of the password that the method searches with', () => {
  let slapd: Slapd;
  let mount: MountedLdap;
  const config = () => ({
    ...{ url: slapd.url, userdn: people, userattr: 'uid', groupdn: groups, groupattr: 'cn' },
    ...{ binddn: searcherDn, bindpass: first },
  });
  const asAdmin = async (password: string): Promise<void> => {
    const directory = createDirectory({ urls: [slapd.url] });
    try {
      await directory.withServiceConnection({ dn: slapd.adminDn, password: slapd.adminPassword }, async (connection) =>
        connection.modify(searcherDn, [{ operation: 'replace', attribute: 'userPassword', values: [password] }]),
      );
    } finally {
      directory.close();
    }
  };
  const takesFirst = async (): Promise<boolean> => {
    const directory = createDirectory({ urls: [slapd.url] });
    try {
      await directory.verifyUser(searcherDn, first);
      return true;
    } catch (error) {
      if (error instanceof LdapError && error.answered) return false;
      throw error;
    } finally {
      directory.close();
    }
  };
  beforeAll(async () => void (slapd = await startSlapd(withSearcher)));
  afterAll(async () => slapd.stop());
  beforeEach(async () => {
    await asAdmin(first);
    mount = await mounted({ plugins: [ldapSecrets] });
    await mount.write('config', config());
  });
  afterEach(async () => mount.close());

  const at = (path: string): string => `${mount.path}/${path}`;
  const shown = async (): Promise<Record<string, unknown>> => (await mount.read('config')).data as Record<string, unknown>;
  const works = async (): Promise<number> => (await mount.login('user1', { password: 'pw1' })).status;

  test('config/rotate-root changes it, and logins go on', async () => {
    expect(await works()).toBe(200);
    expect(await shown()).not.toHaveProperty('root_rotation');
    expect((await mount.call('update', at('config/rotate-root'))).status).toBe(204);
    expect(await takesFirst()).toBe(false);
    expect(await works()).toBe(200);
    expect(await shown()).toMatchObject({
      bindpass_set: true,
      last_bind_password_rotation: mount.clock.now().toISOString(),
      root_rotation: { state: 'idle', last_error: null },
    });
    expect(JSON.stringify(await shown())).not.toContain(first);
  });

  test('logins at the same time are all accepted', async () => {
    const logins = Array.from({ length: 20 }, async () => works());
    const rotated = mount.call('update', at('config/rotate-root'));
    const more = Array.from({ length: 20 }, async () => works());
    expect(new Set(await Promise.all([...logins, ...more]))).toEqual(new Set([200]));
    expect((await rotated).status).toBe(204);
  });

  test('one that is not finished keeps its new password from another address, also where bindpass is sent with it', async () => {
    const cutter = await startLdapCutter(slapd.port);
    try {
      await mount.write('config', { url: cutter.url });
      cutter.cutAt(0, 'answer', 'changes');
      const gone = cutter.cut().then(() => cutter.shut());
      expect((await mount.call('update', at('config/rotate-root'))).status).toBe(500);
      await gone;
      const policy = `path "${at('config')}" { capabilities = ["update"] }`;
      await mount.call('update', 'sys/policies/acl/writer', { data: { policy } });
      const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } })).auth!.client_token;
      const moved = await mount.call('update', at('config'), { data: { url: slapd.url, bindpass: 'mine' }, token });
      expect([moved.status, moved.errors?.join()]).toEqual([400, expect.stringContaining('url: a rotation of bindpass is not finished')]);
      expect((await mount.call('update', at('config'), { data: { url: slapd.url } })).status).toBe(204);
      expect(await works()).toBe(200);
    } finally {
      await cutter.stop();
    }
  });

  test('a plan rotates it by itself', async () => {
    await mount.write('config', { rotation_period: '24h' });
    expect(await shown()).toMatchObject({ rotation_period: 86_400 });
    await mount.advance('24h');
    expect(await takesFirst()).toBe(false);
    expect(await works()).toBe(200);
  });

  test('a write of other parameters keeps the plan and what is known of the rotation', async () => {
    await mount.write('config', { rotation_schedule: '0 3 * * *', rotation_window: '1h' });
    await mount.call('update', at('config/rotate-root'));
    const before = await shown();
    await mount.write('config', { groupattr: 'cn', request_timeout: '30s' });
    expect(await shown()).toEqual({ ...before, request_timeout: 30 });
    expect(await works()).toBe(200);
  });

  test.each([
    [{ bindpass: '' }, 'bindpass is not set'],
    [{ binddn: '', bindpass: '' }, 'binddn is not set'],
  ])('without %j there is nothing to rotate', async (missing, text) => {
    await mount.write('config', missing);
    const { status, errors } = await mount.call('update', at('config/rotate-root'));
    expect([status, errors?.join()]).toEqual([400, expect.stringContaining(text)]);
    const planned = await mount.call('update', at('config'), { data: { rotation_period: '24h' } });
    expect([planned.status, planned.errors?.join()]).toEqual([400, expect.stringContaining('is not set')]);
  });

  test.each([
    [{ schema: 'nds' }, 'schema: "nds" is none of openldap, ad and racf'],
    [{ rotation_period: '24h', rotation_schedule: '0 3 * * *' }, 'rotation_'],
    [{ rotation_window: '1h' }, 'rotation_window is only valid with rotation_schedule'],
  ])('%j is refused', async (data, text) => {
    const { status, errors } = await mount.call('update', at('config'), { data });
    expect([status, errors?.join()]).toEqual([400, expect.stringContaining(text)]);
  });

  test('a directory that refuses the change is named, and logins go on with the old password', async () => {
    await mount.write('config', { binddn: slapd.adminDn, bindpass: slapd.adminPassword });
    const { status, errors } = await mount.call('update', at('config/rotate-root'));
    expect(status).toBe(500);
    expect(errors!.join()).toContain('LDAP Result Code 32 "No Such Object"');
    expect(errors!.join()).not.toContain(slapd.adminPassword);
    expect(await works()).toBe(200);
  });

  test('two methods that search with one account are warned', async () => {
    await mount.call('update', 'sys/auth/other', { data: { type: 'ldap' } });
    const { warnings } = await mount.call('update', 'auth/other/config', { data: config() });
    expect(warnings?.join()).toContain('logs in with the same account');
    expect(await shown()).toMatchObject({ binddn_shared_with: ['auth/other/'] });
  });

  test('a secrets engine that changes passwords with the same account is warned, and so is the method', async () => {
    await mount.call('update', 'sys/mounts/accounts', { data: { type: 'ldap' } });
    const data = { url: slapd.url, binddn: searcherDn.toUpperCase(), bindpass: first, userdn: people };
    const { status, warnings } = await mount.call('update', 'accounts/config', { data });
    expect([status, warnings?.join()]).toEqual([200, expect.stringContaining('auth/ldap/ logs in with the same account')]);
    expect(await shown()).toMatchObject({ binddn_shared_with: ['accounts/'] });
    const again = await mount.call('update', at('config'), { data: { groupattr: 'cn' } });
    expect(again.warnings?.join()).toContain('accounts/ logs in with the same account');
    expect((await mount.call('read', 'accounts/config')).data).toMatchObject({ binddn_shared_with: ['auth/ldap/'] });
  });

  describe('on a server that dies', () => {
    let cutter: LdapCutter;
    let server: KillableMount;
    beforeAll(async () => void (cutter = await startLdapCutter(slapd.port)));
    afterAll(async () => cutter?.stop());
    beforeEach(async () => {
      server = await killableMount(ldapAuth, { clock: manualClock() });
      await server.write('config', { ...config(), url: cutter.url });
    });
    afterEach(async () => {
      cutter.shut();
      cutter.open();
      await server.close();
    });

    const rotate = async () => server.call('update', `${server.path}/config/rotate-root`);
    /** At once and later, and another rotation too. */
    const expectGood = async (): Promise<void> => {
      const login = async () =>
        (await server.call('update', `${server.path}/login/user1`, { data: { password: 'pw1' }, token: '' })).status;
      for (const seconds of [0, 120]) {
        await server.pass(seconds);
        expect(await login()).toBe(200);
      }
      expect((await rotate()).status).toBe(204);
      expect(await login()).toBe(200);
      expect(await takesFirst()).toBe(false);
    };

    test.each([0, 1, 2, 3])('after %i commits, logins are accepted at once and later', async (commits) => {
      server.storage.dieAfter(commits);
      expect(await server.diesIn(rotate())).toBe(commits < 3);
      server = await server.restart();
      await expectGood();
    });

    test.each(
      [0, 1, 2, 3, 4, 5].flatMap((call): [number, Loss][] => [
        [call, 'request'],
        [call, 'answer'],
      ]),
    )('at call %i of the directory (%s lost), logins are accepted at once and later', async (call, loss) => {
      expect(await dieAtCall({ server, cutter }, [call, loss], rotate)).toBe(call < 5);
      server = await server.restart();
      await expectGood();
    });
  });
});
