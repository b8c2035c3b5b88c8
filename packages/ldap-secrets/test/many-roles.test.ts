import { expect, jest, test } from '@jest/globals';
import { describeWithSlapd, startSlapd } from '@strongroom/lab';
import { dataOf, DirectoryView, mountLdap, withManager } from './ldap-mount.ts';

const COUNT = 1_000;
const BASE = 'ou=many,dc=example,dc=org';

const entries = Array.from(
  { length: COUNT },
  (_, i) => `dn: uid=many${i},${BASE}\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: many${i}\nuserPassword: first\n`,
);
const ldif = [
  withManager.ldif,
  `dn: ${BASE}\nobjectClass: organizationalUnit\nou: many\n`,
  `dn: uid=lent,${BASE}\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: lent\nuserPassword: first\n`,
  ...entries,
].join('\n');

// The machine may be busy with other suites.
jest.setTimeout(120_000);

describeWithSlapd('many static roles', () => {
  test('of a thousand that fall due in the same second none fails and none is delayed by more than a minute, and check-outs go on meanwhile', async () => {
    const slapd = await startSlapd({ ...withManager, ldif });
    const view = new DirectoryView(slapd);
    const mount = await mountLdap(slapd, { config: { userdn: BASE } });
    try {
      await mount.write('library/set', { service_account_names: 'lent' });
      for (let i = 0; i < COUNT; i += 1) {
        await mount.write(`static-role/many${i}`, { username: `many${i}`, rotation_period: '1h', skip_import_rotation: true });
      }
      const rotated = async (): Promise<number> => {
        const found = await view.below(BASE, '(!(userPassword=first))');
        return found.length - 1;
      };
      expect(await rotated()).toBe(0);
      await mount.clock.advance('1h');
      for (let i = 0; i < 5; i += 1) {
        const { password } = dataOf<{ password: string }>(await mount.write('library/set/check-out'));
        expect(await view.takes(`uid=lent,${BASE}`, password)).toBe(true);
        expect((await mount.write('library/set/check-in')).data).toEqual({ check_ins: ['lent'] });
      }
      expect(await rotated()).toBeLessThan(COUNT);
      // The clock stands still while the directory works: what counts is how long the schedule postpones those that it has no place for.
      await mount.core.settleSchedule();
      for (let second = 0; second < 60 && (await rotated()) < COUNT; second += 1) await mount.advance(1);
      expect(await rotated()).toBe(COUNT);
      for (let i = 0; i < COUNT; i += 97) {
        const { password } = dataOf<{ password: string }>(await mount.read(`static-cred/many${i}`));
        expect(await view.takes(`uid=many${i},${BASE}`, password)).toBe(true);
      }
      expect((await mount.read('failing')).data).toEqual({ static_roles: {}, library_accounts: {} });
    } finally {
      await mount.close();
      view.close();
      await slapd.stop();
    }
  });
});
