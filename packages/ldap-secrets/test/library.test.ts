import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { startLdapCutter, type LdapCutter } from './ldap-cutter.ts';
import { configFor, dataOf, DirectoryView, mountLdap, SVC, withManager } from './ldap-mount.ts';

interface Lent {
  service_account_name: string;
  password: string;
}
interface Shown {
  available: boolean;
  borrower_client_token?: string;
  borrower_entity_id?: string;
  rotation: { state: string; last_error: { message: string } | null };
}

const DAY = 86_400;

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('library', () => {
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
  const post = async (path: string, data: Record<string, unknown> = {}, token?: string) =>
    mount.call('update', `ldap/library/${path}`, { data, ...(token === undefined ? {} : { token }) });
  const checkOut = async (set = 'set', data: Record<string, unknown> = {}, token?: string): Promise<Lent & { lease: string }> => {
    const answer = await post(`${set}/check-out`, data, token);
    expect({ status: answer.status, errors: answer.errors }).toEqual({ status: 200 });
    return { ...dataOf<Lent>(answer), lease: answer.leaseId };
  };
  const checkIns = async (path: string, data: Record<string, unknown> = {}, token?: string): Promise<string[]> => {
    const answer = await post(path, data, token);
    expect({ status: answer.status, errors: answer.errors }).toEqual({ status: 200 });
    return dataOf<{ check_ins: string[] }>(answer).check_ins;
  };
  const status = async (set = 'set'): Promise<Record<string, Shown>> => dataOf(await mount.read(`library/${set}/status`));
  const expectRefused = async (path: string, data: Record<string, unknown>, text: string, token?: string): Promise<void> => {
    const { status: code, errors } = await post(path, data, token);
    expect({ status: code, errors: errors?.join() }).toEqual({ status: 400, errors: expect.stringContaining(text) });
  };
  const pass = async (seconds: number, step = 30): Promise<void> => {
    for (let left = seconds; left > 0; left -= step) await mount.advance(Math.min(step, left));
  };
  const tokenOf = async (policies = ['borrow']): Promise<string> => {
    const policy = 'path "ldap/*" { capabilities = ["create", "read", "update", "delete"] }';
    await mount.call('update', 'sys/policies/acl/borrow', { data: { policy } });
    return (await mount.call('update', 'auth/token/create', { data: { policies } })).auth!.client_token;
  };

  describe('POST library/:set_name', () => {
    test('name and service_account_names, a list or text: the accounts must exist, and get an unknown password', async () => {
      await view.setPassword(dnOf('svc1'), 'known');
      await expectRefused('set', {}, "'service_account_names' must be provided");
      await expectRefused('set', { service_account_names: [] }, 'at least one service account must be configured');
      await expectRefused('set', { service_account_names: [' '] }, 'service account');
      await expectRefused('set', { service_account_names: 'svc1,SVC1' }, 'an account is named twice');
      await expectRefused('set', { service_account_names: 'svc1,nosuch' }, 'expected one matching entry, but received 0');
      expect((await mount.call('read', 'ldap/library/set')).status).toBe(404);
      expect(await view.takes(dnOf('svc1'), 'known')).toBe(true);
      expect((await post('set', { name: 'set', service_account_names: 'svc1, svc2' })).status).toBe(204);
      expect((await mount.read('library/set')).data).toMatchObject({ service_account_names: ['svc1', 'svc2'] });
      expect(await view.takes(dnOf('svc1'), 'known')).toBe(false);
    });

    test('ttl and max_ttl: a day by default; max_ttl below ttl is refused, unless it is 0', async () => {
      await post('set', { service_account_names: ['svc1'] });
      expect((await mount.read('library/set')).data).toEqual({
        service_account_names: ['svc1'],
        ttl: DAY,
        max_ttl: DAY,
        disable_check_in_enforcement: false,
      });
      await expectRefused('set', { ttl: '2h', max_ttl: '1h' }, 'max_ttl (3600 seconds) may not be less than ttl (7200 seconds)');
      expect((await post('set', { ttl: '2h', max_ttl: 0 })).status).toBe(204);
      expect((await mount.read('library/set')).data).toMatchObject({ ttl: 7_200, max_ttl: 0 });
    });

    test('an account is in one set alone, and not in a static role', async () => {
      await post('set', { service_account_names: ['svc1', 'svc2'] });
      await expectRefused('other', { service_account_names: ['svc3', 'svc2'] }, '"svc2" is already managed by the secrets engine');
      await expectRefused('other', { service_account_names: ['SVC2'] }, '"SVC2" is already managed');
      expect((await mount.call('read', 'ldap/library/other')).status).toBe(404);
      const role = { username: 'svc1', rotation_period: '1h' };
      const byName = await mount.call('update', 'ldap/static-role/r', { data: role });
      const other = 'is already managed by the secrets engine: library account "svc1" of this mount changes its password';
      expect(byName.errors).toEqual([expect.stringContaining(`"svc1" ${other}`)]);
      const byDn = await mount.call('update', 'ldap/static-role/r', { data: { ...role, username: 'x', dn: dnOf('svc1') } });
      expect(byDn.errors).toEqual([expect.stringContaining(`"x" ${other}`)]);
      await mount.write('static-role/r', { username: 'svc4', rotation_period: '1h' });
      await expectRefused('other', { service_account_names: ['svc4'] }, '"svc4" is already managed by the secrets engine');
      await mount.delete('static-role/r');
      expect((await post('other', { service_account_names: ['svc4'] })).status).toBe(204);
    });

    test('writes that come together are all kept, and no account ends up in two sets', async () => {
      await post('set', { service_account_names: ['svc1', 'svc2'] });
      const answers = await Promise.all([
        post('set', { ttl: '2h' }),
        post('set', { service_account_names: ['svc1', 'svc3'] }),
        post('set', { disable_check_in_enforcement: true }),
      ]);
      expect(answers.map(({ status: code }) => code)).toEqual([204, 204, 204]);
      expect((await mount.read('library/set')).data).toMatchObject({
        service_account_names: ['svc1', 'svc3'],
        ttl: 7_200,
        disable_check_in_enforcement: true,
      });
      expect(Object.keys(await status())).toEqual(['svc1', 'svc3']);
      const both = await Promise.all(['one', 'two'].map(async (name) => post(name, { service_account_names: ['svc4'] })));
      expect(both.map(({ status: code }) => code).sort()).toEqual([204, 400]);
    });

    test('accounts are added and taken away; one that is out stays', async () => {
      await post('set', { service_account_names: ['svc1', 'svc2'] });
      const { service_account_name: out } = await checkOut();
      expect(out).toBe('svc1');
      await expectRefused('set', { service_account_names: ['svc2'] }, `"svc1" can't be deleted because it is currently checked out'`);
      expect((await post('set', { service_account_names: ['svc1', 'svc3'] })).status).toBe(204);
      expect(Object.keys(await status())).toEqual(['svc1', 'svc3']);
      expect((await status())['svc1']!.available).toBe(false);
      expect((await post('other', { service_account_names: ['svc2'] })).status).toBe(204);
    });

    test('when a password cannot be changed the set is stored, says so, and does not lend the account until that is done', async () => {
      cutter.cutAt(0, 'request', 'changes');
      const cut = cutter.cut().then(() => cutter.shut());
      const answer = await post('set', { service_account_names: ['svc1'] });
      await cut;
      expect(answer.status).toBe(500);
      expect(answer.errors!.join()).toContain('the set is stored, but the password of "svc1" could not be changed');
      expect((await status())['svc1']).toMatchObject({ available: false, rotation: { state: 'unsettled' } });
      await expectRefused('set/check-out', {}, 'No service accounts available for check-out.');
      cutter.open();
      await pass(120);
      const { password } = await checkOut();
      expect(await view.takes(dnOf('svc1'), password)).toBe(true);
    });
  });

  test('an account that vanishes from the directory while it is lent is no dead end: its lease ends, its status says so, and the set lets it go', async () => {
    const passing = dnOf('passing');
    await view.asAdmin(async (connection) =>
      connection.add(passing, [
        { attribute: 'objectClass', values: ['account', 'simpleSecurityObject'] },
        { attribute: 'uid', values: ['passing'] },
        { attribute: 'userPassword', values: ['x'] },
      ]),
    );
    await post('set', { service_account_names: ['passing', 'svc1'] });
    const { lease } = await checkOut();
    await view.asAdmin(async (connection) => connection.delete(passing));
    const revoked = await mount.call('update', 'sys/leases/revoke', { data: { lease_id: lease, sync: true } });
    expect({ status: revoked.status, errors: revoked.errors }).toEqual({ status: 204 });
    await mount.advance(60);
    expect((await status())['passing']).toMatchObject({
      available: false,
      rotation: { state: 'failing', last_error: { message: expect.stringContaining('expected one matching entry, but received 0') } },
    });
    expect((await post('set', { service_account_names: ['svc1'] })).status).toBe(204);
    expect(Object.keys(await status())).toEqual(['svc1']);
    expect((await mount.call('delete', 'ldap/library/set')).status).toBe(204);
  });

  test('LIST library names the sets, in lower case; GET library/:set_name of one that is not there is 404', async () => {
    expect((await mount.call('list', 'ldap/library')).status).toBe(404);
    await post('Team', { service_account_names: ['svc1'] });
    await post('another', { service_account_names: ['svc2'] });
    expect((await mount.list('library')).data).toEqual({ keys: ['another', 'team'] });
    expect((await mount.call('read', 'ldap/library/none')).status).toBe(404);
    for (const path of ['none/check-out', 'none/check-in', 'manage/none/check-in']) await expectRefused(path, {}, `"none" doesn't exist`);
    expect(await mount.call('read', 'ldap/library/none/status')).toMatchObject({ status: 400, errors: [`"none" doesn't exist`] });
  });

  test('DELETE library/:set_name is refused while accounts are out, and frees the accounts otherwise', async () => {
    await post('set', { service_account_names: ['svc1', 'svc2'] });
    const { service_account_name, lease } = await checkOut();
    const refused = await mount.call('delete', 'ldap/library/set');
    expect(refused).toMatchObject({
      status: 400,
      errors: [`"${service_account_name}" can't be deleted because it is currently checked out'`],
    });
    await checkIns('set/check-in');
    expect((await mount.call('delete', 'ldap/library/set')).status).toBe(204);
    expect((await mount.call('delete', 'ldap/library/set')).status).toBe(204);
    expect((await post('other', { service_account_names: ['svc1'] })).status).toBe(204);
    expect((await mount.call('update', 'sys/leases/revoke', { data: { lease_id: lease, sync: true } })).status).toBe(204);
    expect((await status('other'))['svc1']!.available).toBe(true);
  });

  describe('POST library/:set_name/check-out', () => {
    test('name: lends the accounts of that set one by one, with the password of each; then 400', async () => {
      await post('set', { service_account_names: ['svc1', 'svc2'] });
      const first = await checkOut('set', { name: 'set' });
      const second = await checkOut();
      expect([first.service_account_name, second.service_account_name]).toEqual(['svc1', 'svc2']);
      for (const { service_account_name, password } of [first, second])
        expect(await view.takes(dnOf(service_account_name), password)).toBe(true);
      expect(await post('set/check-out')).toMatchObject({ status: 400, errors: ['No service accounts available for check-out.'] });
    });

    test('many that come at one moment get different accounts', async () => {
      const names = Array.from({ length: 8 }, (_, i) => `svc${i + 1}`);
      await post('set', { service_account_names: names });
      const answers = await Promise.all(Array.from({ length: 12 }, async () => post('set/check-out')));
      const lent = answers.filter(({ status: code }) => code === 200).map((answer) => dataOf<Lent>(answer).service_account_name);
      expect(lent.sort()).toEqual(names);
    });

    test('ttl: the lease has the set’s by default, may be less, and more becomes the set’s; 0 is no limit, which is more', async () => {
      await post('set', { service_account_names: ['svc1', 'svc2', 'svc3', 'svc4'], ttl: '1h', max_ttl: '2h' });
      const durations = [];
      for (const ttl of [undefined, '10m', '5h', 0])
        durations.push((await post('set/check-out', ttl === undefined ? {} : { ttl })).leaseDuration);
      expect(durations).toEqual([3_600, 600, 3_600, 3_600]);
    });

    test('the lease ends the loan: the account comes back and gets another password', async () => {
      await post('set', { service_account_names: ['svc1'], ttl: '1h' });
      const { password } = await checkOut('set', { ttl: '10m' });
      await pass(590);
      expect((await status())['svc1']!.available).toBe(false);
      await pass(30);
      expect((await status())['svc1']!.available).toBe(true);
      expect(await view.takes(dnOf('svc1'), password)).toBe(false);
      expect((await checkOut()).password).not.toBe(password);
    });

    test('the lease is renewed up to max_ttl, and not after check-in', async () => {
      await post('set', { service_account_names: ['svc1'], ttl: '1h', max_ttl: '90m' });
      const { lease } = await checkOut();
      const renew = async () => mount.call('update', 'sys/leases/renew', { data: { lease_id: lease } });
      await pass(3_000);
      expect((await renew()).leaseDuration).toBe(2_400);
      expect((await status())['svc1']).toMatchObject({ borrowed_until: new Date(mount.clock.millis() + 2_400_000).toISOString() });
      await checkIns('set/check-in');
      const refused = await renew();
      expect(refused.status).toBe(400);
      expect(refused.errors!.join()).toMatch(/svc1 is already checked in, please call check-out to regain it$/);
    });

    test('revocation of the lease is a check-in; that of an old lease does not touch the next loan', async () => {
      await post('set', { service_account_names: ['svc1'] });
      const first = await checkOut();
      expect((await mount.call('update', 'sys/leases/revoke', { data: { lease_id: first.lease, sync: true } })).status).toBe(204);
      const second = await checkOut();
      await checkIns('set/check-in');
      const third = await checkOut();
      expect((await mount.call('update', 'sys/leases/revoke', { data: { lease_id: second.lease, sync: true } })).status).toBe(204);
      expect((await status())['svc1']!.available).toBe(false);
      expect(await view.takes(dnOf('svc1'), third.password)).toBe(true);
    });

    test('leases that are dropped by force end their loans; the accounts are lent again when their passwords were changed', async () => {
      const names = Array.from({ length: 8 }, (_, i) => `svc${i + 1}`);
      await post('set', { service_account_names: names });
      const loans = [];
      while (loans.length < names.length) loans.push(await checkOut());
      cutter.shut();
      // After some failures the circuit breaker of the directory opens, and the rest are dropped without a try.
      for (const { lease } of loans.slice(0, 6)) {
        const answer = await mount.call('update', 'sys/leases/revoke', { data: { lease_id: lease, sync: true } });
        expect(answer.status).toBe(400);
      }
      // The answer lists the accounts whose borrowers know their passwords.
      expect((await mount.call('update', 'sys/leases/revoke-force/ldap/library')).status).toBe(200);
      for (const shown of Object.values(await status())) expect(shown).not.toHaveProperty('borrower_client_token');
      await expectRefused('set/check-out', {}, 'No service accounts available for check-out.');
      cutter.open();
      await pass(600);
      expect(Object.values(await status()).map(({ available }) => available)).toEqual(names.map(() => true));
      for (const { service_account_name, password } of loans) expect(await view.takes(dnOf(service_account_name), password)).toBe(false);
    });

    test('the end of the borrower’s token is a check-in', async () => {
      await post('set', { service_account_names: ['svc1'] });
      const token = await tokenOf();
      const { password } = await checkOut('set', {}, token);
      await mount.call('update', 'auth/token/revoke', { data: { token } });
      await pass(30);
      expect((await status())['svc1']!.available).toBe(true);
      expect(await view.takes(dnOf('svc1'), password)).toBe(false);
    });

    test('without a configuration a lease cannot be revoked ahead of its end, and nothing is lost: it works again with one', async () => {
      await post('set', { service_account_names: ['svc1'], ttl: '1h' });
      const { lease, password } = await checkOut();
      const revoke = async () => mount.call('update', 'sys/leases/revoke', { data: { lease_id: lease, sync: true } });
      await mount.delete('config');
      const refused = await revoke();
      expect(refused.status).toBe(400);
      expect(refused.errors!.join()).toContain('the config is currently unset');
      expect((await status())['svc1']!.available).toBe(false);
      await mount.write('config', configFor(cutter));
      await pass(120);
      expect((await status())['svc1']!.available).toBe(true);
      expect(await view.takes(dnOf('svc1'), password)).toBe(false);
    });

    test('ttl and max_ttl of 0 lend without limit: the loan outlives its lease, until check-in or revocation', async () => {
      await mount.call('update', 'sys/mounts/ldap/tune', { data: { max_lease_ttl: '12h' } });
      await post('set', { service_account_names: ['svc1', 'svc2'], ttl: 0, max_ttl: 0 });
      const { password, lease: first } = await checkOut();
      const { lease } = await checkOut();
      expect((await mount.call('update', 'sys/leases/revoke', { data: { lease_id: lease, sync: true } })).status).toBe(204);
      expect((await status())['svc2']!.available).toBe(true);
      await pass(DAY, DAY);
      expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: first } })).status).toBe(400);
      expect((await status())['svc1']!.available).toBe(false);
      expect(await view.takes(dnOf('svc1'), password)).toBe(true);
      expect(await checkIns('set/check-in')).toEqual(['svc1']);
      expect((await status())['svc1']!.available).toBe(true);
    });
  });

  describe('GET library/:set_name/status', () => {
    test('shows who has an account by a salted digest of the token, which is no token, and by entity', async () => {
      await post('set', { service_account_names: ['svc1', 'svc2'] });
      await mount.call('update', 'identity/entity', { data: { name: 'ada', policies: ['borrow'] } });
      const entity = dataOf<{ id: string }>(await mount.call('read', 'identity/entity/name/ada')).id;
      const accessor = dataOf<Record<string, { accessor: string }>>(await mount.call('read', 'sys/auth'))['token/']!.accessor;
      await mount.call('update', 'auth/token/roles/ada', { data: { allowed_entity_aliases: ['ada'], allowed_policies: ['borrow'] } });
      await mount.call('update', 'identity/entity-alias', { data: { name: 'ada', canonical_id: entity, mount_accessor: accessor } });
      const plain = await tokenOf();
      await checkOut('set', {}, plain);
      const known = await mount.call('update', 'auth/token/create/ada', { data: { entity_alias: 'ada', policies: ['borrow'] } });
      await checkOut('set', {}, known.auth!.client_token);
      const { svc1, svc2 } = await status();
      expect(svc1).toEqual({
        available: false,
        borrower_name: 'token',
        borrower_client_token: expect.stringMatching(/^[0-9a-f]{40}$/),
        borrowed_since: mount.clock.now().toISOString(),
        borrowed_until: new Date(mount.clock.millis() + DAY * 1_000).toISOString(),
        borrowed_by_you: false,
        rotation: expect.anything(),
      });
      expect(svc1!.borrower_client_token).not.toBe(createHash('sha1').update(plain).digest('hex'));
      const asToken = await mount.call('read', 'auth/token/lookup-self', { token: svc1!.borrower_client_token! });
      expect(asToken.status).toBe(403);
      expect(svc2).toMatchObject({ available: false, borrower_entity_id: entity });
      expect(svc2!.borrower_client_token).not.toBe(svc1!.borrower_client_token);
      const stranger = await tokenOf();
      await expectRefused(
        'set/check-in',
        { service_account_names: 'svc2' },
        `"svc2" can't be checked in because it wasn't checked out by the caller`,
        stranger,
      );
      const again = await mount.call('update', 'auth/token/create/ada', { data: { entity_alias: 'ada', policies: ['borrow'] } });
      expect(await checkIns('set/check-in', {}, again.auth!.client_token)).toEqual(['svc2']);
    });

    test('every account has a status block', async () => {
      await post('set', { service_account_names: ['svc1'] });
      expect((await status())['svc1']).toMatchObject({
        available: true,
        rotation: { state: 'idle', attempts: 0, last_error: null, last_success: mount.clock.now().toISOString(), next_attempt: null },
      });
    });
  });

  describe('POST library/:set_name/check-in', () => {
    test('name and service_account_names: it may be left out for one account, and must name them where the caller has several; check_ins has those that were out', async () => {
      await post('set', { service_account_names: ['svc1', 'svc2', 'svc3'] });
      expect(await checkIns('set/check-in')).toEqual([]);
      await checkOut();
      expect(await checkIns('set/check-in')).toEqual(['svc1']);
      await checkOut();
      await checkOut();
      await expectRefused(
        'set/check-in',
        {},
        "when multiple service accounts are checked out, the 'service_account_names' to check in must be provided",
      );
      expect(await checkIns('set/check-in', { service_account_names: 'svc2,svc1' })).toEqual(['svc2', 'svc1']);
      expect(await checkIns('set/check-in', { name: 'set', service_account_names: ['svc1'] })).toEqual([]);
      await expectRefused('set/check-in', { service_account_names: ['svc9'] }, '"svc9" not found in the set');
    });

    test('changes the password', async () => {
      await post('set', { service_account_names: ['svc1'] });
      const { password } = await checkOut();
      await checkIns('set/check-in');
      expect(await view.takes(dnOf('svc1'), password)).toBe(false);
      expect(await view.takes(dnOf('svc1'), (await checkOut()).password)).toBe(true);
    });

    test('only who checked an account out brings it back; disable_check_in_enforcement lets everybody', async () => {
      await post('set', { service_account_names: ['svc1', 'svc2'] });
      const [borrower, other] = [await tokenOf(), await tokenOf()];
      await checkOut('set', {}, borrower);
      const text = `"svc1" can't be checked in because it wasn't checked out by the caller`;
      await expectRefused('set/check-in', { service_account_names: 'svc1' }, text, other);
      expect(await checkIns('set/check-in', {}, other)).toEqual([]);
      expect((await status())['svc1']!.available).toBe(false);
      expect(await checkIns('set/check-in', {}, borrower)).toEqual(['svc1']);
      await checkOut('set', {}, borrower);
      await post('set', { disable_check_in_enforcement: true });
      expect(await checkIns('set/check-in', { service_account_names: 'svc1' }, other)).toEqual(['svc1']);
    });

    test('what the directory does not take is done later: the account is checked in, and not lent until then', async () => {
      await post('set', { service_account_names: ['svc1'] });
      const { password } = await checkOut();
      cutter.shut();
      const answer = await post('set/check-in');
      expect(answer).toMatchObject({ status: 200, data: { check_ins: ['svc1'] } });
      expect(answer.warnings!.join()).toContain('the password of "svc1" is not changed yet');
      expect((await status())['svc1']).toMatchObject({ available: false });
      const failing = dataOf<{ library_accounts: Record<string, unknown> }>(await mount.read('failing')).library_accounts;
      expect(Object.keys(failing)).toEqual(['svc1']);
      await expectRefused('set/check-out', {}, 'No service accounts available for check-out.');
      cutter.open();
      await pass(120);
      expect((await status())['svc1']).toMatchObject({ available: true, rotation: { state: 'idle', last_error: null } });
      expect(await view.takes(dnOf('svc1'), password)).toBe(false);
    });

    test.each(['request', 'answer'] as const)(
      'when the connection dies with the %s of the change lost, no password is lost',
      async (loss) => {
        await post('set', { service_account_names: ['svc1'] });
        const { password } = await checkOut();
        cutter.cutAt(0, loss, 'changes');
        const cut = cutter.cut().then(() => cutter.shut());
        expect((await post('set/check-in')).status).toBe(200);
        await cut;
        expect((await status())['svc1']).toMatchObject({ available: false, rotation: { state: 'unsettled' } });
        cutter.open();
        await pass(120);
        const next = await checkOut();
        expect(next.password).not.toBe(password);
        expect(await view.takes(dnOf('svc1'), next.password)).toBe(true);
      },
    );
  });

  test('POST library/manage/:set_name/check-in takes accounts back, whoever has them', async () => {
    await post('set', { service_account_names: ['svc1', 'svc2'] });
    const borrower = await tokenOf();
    const { password } = await checkOut('set', {}, borrower);
    expect(await checkIns('manage/set/check-in')).toEqual(['svc1']);
    expect(await view.takes(dnOf('svc1'), password)).toBe(false);
    await checkOut('set', {}, borrower);
    expect(await checkIns('manage/set/check-in', { service_account_names: ['svc1'] })).toEqual(['svc1']);
    expect(await checkIns('manage/set/check-in')).toEqual([]);
  });

  describe('check-out with wait', () => {
    const turn = async (): Promise<void> => {
      for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
    };

    test('gets the account that comes back, first come, first served; who would not wait goes away empty meanwhile', async () => {
      await post('set', { service_account_names: ['svc1'] });
      const order: string[] = [];
      await checkOut();
      const waiting = ['first', 'second'].map(async (who) => {
        const lent = await checkOut('set', { wait: '10s' });
        order.push(who);
        return lent;
      });
      await turn();
      expect(order).toEqual([]);
      await checkIns('set/check-in');
      const first = await waiting[0]!;
      expect(await view.takes(dnOf('svc1'), first.password)).toBe(true);
      await expectRefused('set/check-out', {}, 'No service accounts available for check-out.');
      await checkIns('set/check-in');
      await expectRefused('set/check-out', {}, 'No service accounts available for check-out.');
      expect((await waiting[1]!).password).not.toBe(first.password);
      expect(order).toEqual(['first', 'second']);
    });

    test('ends when the time is over, and the place in the line is gone', async () => {
      await post('set', { service_account_names: ['svc1'] });
      await checkOut();
      const waiting = post('set/check-out', { wait: '10s' });
      await turn();
      await mount.clock.advance(9);
      await turn();
      await mount.clock.advance(2);
      expect(await waiting).toMatchObject({ status: 400, errors: ['No service accounts available for check-out.'] });
      await checkIns('set/check-in');
      expect((await status())['svc1']!.available).toBe(true);
    });

    test('ends before the deadline of the request, with an answer', async () => {
      await post('set', { service_account_names: ['svc1'] });
      await checkOut();
      const waiting = post('set/check-out', { wait: '1h' });
      await turn();
      await mount.clock.advance(81);
      expect(await waiting).toMatchObject({ status: 400, errors: ['No service accounts available for check-out.'] });
    });

    test('ends when the caller goes away: nobody gets the account in its place but the next in line', async () => {
      await post('set', { service_account_names: ['svc1'] });
      await checkOut();
      const gone = new AbortController();
      const left = mount.core.handle({
        operation: 'update',
        path: 'ldap/library/set/check-out',
        token: mount.rootToken,
        remoteAddress: '127.0.0.1',
        data: { wait: '60s' },
        signal: gone.signal,
      });
      const next = checkOut('set', { wait: '60s' });
      await turn();
      gone.abort();
      await left.catch(() => undefined);
      await checkIns('set/check-in');
      expect((await next).service_account_name).toBe('svc1');
      await pass(300);
      expect((await status())['svc1']!.available).toBe(false);
    });

    test.each([
      ['its mount is removed', 'delete', 'sys/mounts/ldap', 'the mount ldap/ is being removed'],
      ['the server is sealed', 'update', 'sys/seal', 'Vault is sealed'],
    ] as const)('ends with 503 when %s, which does not wait for it', async (_, operation, path, text) => {
      await post('set', { service_account_names: ['svc1'] });
      await checkOut();
      const waiting = post('set/check-out', { wait: '60s' });
      await turn();
      expect([200, 204]).toContain((await mount.call(operation, path)).status);
      expect(await waiting).toMatchObject({ status: 503, errors: [text] });
    });

    test('lends nothing to a token that ended meanwhile: the account is free again at once', async () => {
      await post('set', { service_account_names: ['svc1'] });
      await checkOut();
      const token = await tokenOf();
      const waiting = post('set/check-out', { wait: '60s' }, token);
      await turn();
      await mount.call('update', 'auth/token/revoke', { data: { token } });
      await checkIns('set/check-in');
      expect((await waiting).status).toBe(403);
      await mount.core.settleSchedule();
      await mount.advance(15);
      expect((await status())['svc1']!.available).toBe(true);
      await checkOut();
    });

    test('is served by the end of a lease and by another process too', async () => {
      await mount.close();
      const memory = sharedMemory();
      mount = await mountLdap(cutter, { storage: memory.open() });
      await post('set', { service_account_names: ['svc1'] });
      const { lease } = await checkOut();
      const waiting = checkOut('set', { wait: '60s' });
      await turn();
      await mount.call('update', 'sys/leases/revoke', { data: { lease_id: lease, sync: true } });
      await waiting;
      const elsewhere = checkOut('set', { wait: '60s' });
      await turn();
      const other = await mountLdap(cutter, { storage: memory.open(), clock: mount.clock });
      try {
        const answer = await other.call('update', 'ldap/library/set/check-in');
        expect(answer.data).toEqual({ check_ins: ['svc1'] });
        expect((await elsewhere).service_account_name).toBe('svc1');
      } finally {
        await other.close();
      }
    });

    describe('on several servers', () => {
      const others: TestMount[] = [];
      let memory: ReturnType<typeof sharedMemory>;
      beforeEach(async () => {
        await mount.close();
        memory = sharedMemory();
        mount = await mountLdap(cutter, { storage: memory.open() });
        await post('set', { service_account_names: ['svc1'] });
      });
      afterEach(async () => {
        for (const other of others.splice(0)) await other.close();
      });
      const another = async () => {
        const storage = memory.open();
        const server = await mountLdap(cutter, { storage, clock: mount.clock });
        others.push(server);
        const waits = async (who: string, served: string[]) => {
          const answer = await server.call('update', 'ldap/library/set/check-out', { data: { wait: '60s' } });
          served.push(answer.status === 200 ? who : `${who}: ${answer.status}`);
        };
        return { server, storage, waits };
      };
      const queue = async () =>
        dataOf<{ available: number; earliest: string | null; waiting: { position: number; you: boolean; since: string }[] }>(
          await mount.read('library/set/waiting'),
        );

      test('first come, first served, whichever server the callers ask; the queue shows them all, and when the next account comes back at the latest', async () => {
        const [b, c] = [await another(), await another()];
        const served: string[] = [];
        await checkOut('set', { ttl: '10m' });
        const first = b.waits('first', served);
        await turn();
        await mount.clock.advance(1);
        const second = c.waits('second', served);
        await turn();
        await mount.clock.advance(1);
        const third = b.waits('third', served);
        await turn();
        const { waiting, ...free } = await queue();
        expect(waiting.map(({ position, you }) => [position, you])).toEqual([
          [1, true],
          [2, true],
          [3, true],
        ]);
        expect(waiting.map(({ since }) => since)).toEqual([...waiting].map(({ since }) => since).sort());
        expect(free).toEqual({ available: 0, earliest: new Date(mount.clock.millis() + 598_000).toISOString() });
        await expectRefused('set/check-out', {}, 'No service accounts available for check-out.');
        for (const waited of [first, second, third]) {
          await checkIns('manage/set/check-in');
          await waited;
        }
        expect(served).toEqual(['first', 'second', 'third']);
        expect((await queue()).waiting).toEqual([]);
      });

      test('a server that dies gives up its place within seconds, and the next caller is served', async () => {
        const dying = await another();
        const served: string[] = [];
        await checkOut();
        void dying.waits('dead', []).catch(() => undefined);
        await turn();
        const living = await another();
        const next = living.waits('next', served);
        await turn();
        expect((await queue()).waiting).toHaveLength(2);
        dying.storage.cut();
        await checkIns('set/check-in');
        await turn();
        expect(served).toEqual([]);
        for (let seconds = 0; seconds < 30; seconds += 5) await mount.clock.advance(5).then(turn);
        await next;
        expect(served).toEqual(['next']);
      });

      test('a server that was cut off from the news of others asks by itself', async () => {
        const deaf = await another();
        const served: string[] = [];
        await checkOut();
        deaf.storage.deafen();
        const waited = deaf.waits('deaf', served);
        await turn();
        await checkIns('set/check-in');
        await turn();
        expect(served).toEqual([]);
        await mount.clock.advance(5).then(turn);
        await waited;
        expect(served).toEqual(['deaf']);
      });

      test('many that wait on three servers get every account once', async () => {
        const names = ['svc1', 'svc2', 'svc3', 'svc4'];
        await post('set', { service_account_names: names });
        const servers = [await another(), await another(), await another()];
        for (const _ of names) await checkOut();
        const served: string[] = [];
        const all = Array.from({ length: 9 }, async (_, i) => servers[i % 3]!.waits(String(i), served));
        await turn();
        for (let i = 0; i < 3; i += 1) {
          await checkIns('manage/set/check-in', { service_account_names: names });
          for (let j = 0; j < 5; j += 1) await turn();
        }
        await Promise.all(all);
        expect(served.sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8']);
        expect(Object.values(await status()).filter(({ available }) => !available)).toHaveLength(1);
      });
    });

    test('a caller that goes away leaves the queue at once', async () => {
      await post('set', { service_account_names: ['svc1'] });
      await checkOut();
      const gone = new AbortController();
      const request = {
        operation: 'update',
        path: 'ldap/library/set/check-out',
        token: mount.rootToken,
        remoteAddress: '127.0.0.1',
      } as const;
      const left = mount.core.handle({ ...request, data: { wait: '60s' }, signal: gone.signal });
      await turn();
      const waiting = async () => dataOf<{ waiting: unknown[] }>(await mount.read('library/set/waiting')).waiting;
      expect(await waiting()).toHaveLength(1);
      gone.abort();
      await left.catch(() => undefined);
      await turn();
      expect(await waiting()).toEqual([]);
    });
  });
});
