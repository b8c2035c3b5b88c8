import { expect, jest, test } from '@jest/globals';
import type { Engine } from '@strongroom/engine-sdk';
import { mountForTest } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd } from '@strongroom/lab';
import { ldapSecrets } from '../src/index.ts';
import { configFor, managerDn, SVC, withManager } from './ldap-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('what stands in the directory because of a mount', () => {
  test('is listed without asking the directory: accounts whose only password is stored here, and not those that others have taken over', async () => {
    const slapd = await startSlapd(withManager);
    const engines: Engine[] = [];
    const seen = {
      ...ldapSecrets,
      create: (...parts: Parameters<typeof ldapSecrets.create>) => {
        const engine = ldapSecrets.create(...parts);
        engines.push(engine);
        return engine;
      },
    };
    const mount = await mountForTest(seen, { path: 'ldap' });
    try {
      const [first] = engines;
      expect(await first!.outside!()).toEqual([]);
      await mount.write('config', configFor(slapd));
      await mount.write('static-role/untouched', { username: 'svc1', rotation_period: '1h', skip_import_rotation: true });
      expect(await first!.outside!()).toEqual([]);
      await mount.write('static-role/a', { username: 'svc2', dn: `uid=svc2,${SVC}`, rotation_period: '1h' });
      await mount.write('static-role/lost', { username: 'svc3', rotation_period: '1h' });
      await mount.write('library/set', { service_account_names: 'svc4,svc5' });
      await mount.write('library/set/check-out');
      await mount.write('rotate-root');
      await mount.call('update', 'sys/mounts/two', { data: { type: 'ldap' } });
      const { errors } = await mount.call('update', 'two/config', {
        data: { ...configFor(slapd), binddn: slapd.adminDn, bindpass: slapd.adminPassword },
      });
      expect(errors).toBeUndefined();
      const taken = { username: 'svc3', rotation_period: '1h', adopt: true };
      expect((await mount.call('update', 'two/static-role/b', { data: taken })).status).toBe(204);
      await slapd.stop();
      const kind = 'directory account';
      const system = slapd.url.replace(/\/$/, '');
      expect(await first!.outside!()).toEqual([
        { kind, system, name: managerDn, detail: 'binddn, whose password was rotated and is stored here alone' },
        { kind, system, name: `uid=svc2,${SVC}`, detail: 'the static role "a" has changed its password, which is stored here alone' },
        {
          kind,
          system,
          name: 'svc4',
          detail: 'the set "set" has changed its password, which is stored here alone, and which its borrower knows',
        },
        { kind, system, name: 'svc5', detail: 'the set "set" has changed its password, which is stored here alone' },
      ]);
      const lease = first!.secrets!.find(({ type }) => type === 'creds')!;
      expect(lease.outside!({ role: 'app', username: 'v_x', entries: ['uid=v_x,dc=a', 'cn=v_x,dc=b'], deletion_ldif: '' })).toEqual({
        kind,
        name: 'uid=v_x,dc=a',
        detail: 'made by the role "app", with cn=v_x,dc=b',
      });
      // The directory is gone, and an operator lets go: the answer says what is left in it.
      const { status, data } = await mount.call('delete', 'sys/mounts/ldap', { data: { force: true } });
      expect(status).toBe(200);
      const left = (data as { left_outside: { kind: string; name: string; detail: string }[] }).left_outside;
      expect(left.map(({ name }) => name)).toEqual(expect.arrayContaining([managerDn, `uid=svc2,${SVC}`, 'svc4', 'svc5']));
      expect(left.map(({ detail }) => detail)).toContain('lent from the set "set": its borrower knows the password');
    } finally {
      await mount.close();
      await slapd.stop();
    }
  });
});
