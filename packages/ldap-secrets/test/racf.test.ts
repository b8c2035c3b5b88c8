import { expect, jest, test } from '@jest/globals';
import { mountForTest } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd } from '@strongroom/lab';
import { ldapSecrets } from '../src/index.ts';
import { dataOf, DirectoryView, mountLdap, SVC, withManager } from './ldap-mount.ts';

/** As much of the schema of RACF's directory as the engine uses. */
const schema = `
attributetype ( 1.3.18.0.2.4.186 NAME 'racfid' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
attributetype ( 1.3.18.0.2.4.187 NAME 'racfPassword' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
attributetype ( 1.3.18.0.2.4.3205 NAME 'racfPassPhrase' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
attributetype ( 1.3.18.0.2.4.188 NAME 'racfAttributes' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
objectclass ( 1.3.18.0.2.6.55 NAME 'racfUser' SUP top AUXILIARY MUST racfid MAY ( racfPassword $ racfPassPhrase $ racfAttributes ) )`;
const user = `dn: uid=mainframe,${SVC}
objectClass: account
objectClass: racfUser
objectClass: simpleSecurityObject
uid: mainframe
racfid: MAINFR
userPassword: untouched
`;

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('schema racf', () => {
  test('sets racfPassword, and racfAttributes to noexpired, of the account that racfid names', async () => {
    const slapd = await startSlapd({ ...withManager, ldif: `${withManager.ldif}\n${user}`, globalConfig: schema });
    const view = new DirectoryView(slapd);
    const mount = await mountLdap(slapd, { config: { schema: 'racf', userattr: '', length: 8 } });
    try {
      const check = async (password: string): Promise<void> => {
        const entry = (await view.entry(`uid=mainframe,${SVC}`))!;
        expect(password).toMatch(/^[A-Za-z0-9]{8}$/);
        expect(entry.values('racfPassword')).toEqual([password]);
        expect(entry.values('racfAttributes')).toEqual(['noexpired']);
        expect(await view.takes(`uid=mainframe,${SVC}`, 'untouched')).toBe(true);
      };
      await mount.write('static-role/a', { username: 'mainfr', rotation_period: '1h' });
      await check(dataOf<{ password: string }>(await mount.read('static-cred/a')).password);
      await mount.advance('1h');
      const rotated = dataOf<{ password: string; last_password: string }>(await mount.read('static-cred/a'));
      expect(rotated.last_password).not.toBe('');
      await check(rotated.password);
      await mount.delete('static-role/a');
      await mount.write('library/set', { service_account_names: 'MAINFR' });
      await check(dataOf<{ password: string }>(await mount.write('library/set/check-out')).password);
    } finally {
      await mount.close();
      view.close();
      await slapd.stop();
    }
  });

  test('sets racfPassPhrase where the configuration asks for phrases, of a length that RACF takes', async () => {
    const slapd = await startSlapd({ ...withManager, ldif: `${withManager.ldif}\n${user}`, globalConfig: schema });
    const view = new DirectoryView(slapd);
    const mount = await mountLdap(slapd, { config: { schema: 'racf', userattr: '', credential_type: 'phrase' } });
    const refusal = async (path: string, data: Record<string, unknown>) => {
      const { status, errors } = await mount.call('update', `ldap/${path}`, { data });
      return { status, errors: errors?.join() };
    };
    try {
      await mount.write('static-role/a', { username: 'mainfr', rotation_period: '1h' });
      const { password } = dataOf<{ password: string }>(await mount.read('static-cred/a'));
      const entry = (await view.entry(`uid=mainframe,${SVC}`))!;
      expect(password).toHaveLength(64);
      expect([entry.values('racfPassPhrase'), entry.values('racfAttributes'), entry.values('racfPassword')]).toEqual([
        [password],
        ['noexpired'],
        [],
      ]);
      expect(dataOf(await mount.read('config'))).toMatchObject({ credential_type: 'phrase' });
      expect(await refusal('config', { length: 8 })).toEqual({
        status: 400,
        errors: expect.stringContaining('length: a phrase of RACF has 9 to 100 characters, not 8'),
      });
      expect(await refusal('config', { schema: 'openldap' })).toEqual({
        status: 400,
        errors: expect.stringContaining('credential_type: the schema openldap has no phrases'),
      });
      expect(await refusal('config', { credential_type: 'pin' })).toEqual({
        status: 400,
        errors: expect.stringContaining('credential_type: "pin" is neither password nor phrase'),
      });
      await mount.call('update', 'sys/policies/password/short', {
        data: { policy: 'length = 8\nrule "charset" { charset = "abcdefgh" }' },
      });
      await mount.write('static-role/a', { password_policy: 'short' });
      expect(await refusal('rotate-role/a', {})).toEqual({
        status: 400,
        errors: expect.stringContaining('password_policy: "short" gives 8 characters; a phrase of RACF has 9 to 100'),
      });
    } finally {
      await mount.close();
      view.close();
      await slapd.stop();
    }
  });

  test.each([
    ['racfPassword', { length: 8 }],
    ['racfPassPhrase', { credential_type: 'phrase' }],
  ])('self_managed exchanges %s as the account, and keeps both until one of them logs in', async (attribute, more) => {
    const comparable = schema.replaceAll(/(NAME 'racfPass\w+')/g, '$1 EQUALITY caseExactMatch');
    const own = `${user}${attribute}: untouched\n`;
    const slapd = await startSlapd({ ldif: own, globalConfig: comparable, config: 'access to * by self write by anonymous auth' });
    const view = new DirectoryView(slapd);
    const mount = await mountForTest(ldapSecrets, { path: 'ldap' });
    const account = { username: 'mainfr', dn: `uid=mainframe,${SVC}`, rotation_period: '1h', password: 'untouched' };
    try {
      await mount.write('config', { url: slapd.url, schema: 'racf', self_managed: true, ...more });
      // Here the login has a password of its own, which the change does not reach.
      const { status, errors } = await mount.call('update', 'ldap/static-role/a', { data: account });
      expect([status, errors!.join()]).toEqual([500, expect.stringContaining('the old credential is still the one that is taken')]);
      const [changed, ...others] = (await view.entry(account.dn))!.values(attribute);
      expect([changed === 'untouched', others]).toEqual([false, []]);
      expect((await view.entry(account.dn))!.values('racfAttributes')).toEqual([]);
      expect(dataOf<{ password: string }>(await mount.read('static-cred/a')).password).toBe('untouched');
      await view.setPassword(account.dn, changed!);
      expect(dataOf<{ password: string }>(await mount.read('static-cred/a')).password).toBe(changed);
    } finally {
      await mount.close();
      view.close();
      await slapd.stop();
    }
  });
});
