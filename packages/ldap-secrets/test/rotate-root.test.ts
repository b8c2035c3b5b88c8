import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { startLdapCutter, type LdapCutter } from './ldap-cutter.ts';
import { configFor, dataOf, DirectoryView, managerDn, managerPassword, mountLdap, SVC, withManager } from './ldap-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('POST rotate-root', () => {
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
    mount = await mountLdap(cutter);
  });
  afterEach(async () => mount.close());

  interface Shown {
    last_bind_password_rotation?: string;
    root_rotation: { state: string; last_error: { message: string } | null; attempts: number };
  }
  const rotate = async () => mount.call('update', 'ldap/rotate-root');
  const config = async (): Promise<Shown> => dataOf<Shown>(await mount.read('config'));
  /** The mount can change passwords. */
  const works = async (): Promise<boolean> => {
    const answer = await mount.call('update', 'ldap/static-role/probe', { data: { username: 'svc9', rotation_period: '24h' } });
    if (answer.status === 204) await mount.delete('static-role/probe');
    return answer.status === 204;
  };

  test('changes the password of binddn; nobody but the server knows the new one', async () => {
    expect(await config()).not.toHaveProperty('last_bind_password_rotation');
    expect((await rotate()).status).toBe(204);
    expect(await view.takes(managerDn, managerPassword)).toBe(false);
    expect(await works()).toBe(true);
    expect(await config()).toMatchObject({
      last_bind_password_rotation: mount.clock.now().toISOString(),
      root_rotation: { state: 'idle', last_error: null, last_success: mount.clock.now().toISOString() },
    });
    expect((await rotate()).status).toBe(204);
    expect(await works()).toBe(true);
  });

  test('fails with the directory’s own words where binddn is no entry, and keeps the password', async () => {
    await mount.write('config', { binddn: slapd.adminDn, bindpass: slapd.adminPassword });
    const answer = await rotate();
    expect(answer.status).toBe(500);
    expect(answer.errors!.join()).toContain('LDAP Result Code 32 "No Such Object"');
    expect(await works()).toBe(true);
    expect((await config()).root_rotation).toMatchObject({ state: 'failed', last_error: { message: expect.stringContaining('Code 32') } });
    expect(dataOf<{ root: object }>(await mount.read('failing')).root).toMatchObject({ state: 'failed' });
  });

  test.each([
    ['request', 1],
    ['answer', 1],
    ['request', 0],
    ['answer', 0],
  ] as const)(
    'when the connection dies with the %s of the change lost and stays away for a while, both passwords are kept, and the right one is found',
    async (loss, extra) => {
      const retries = extra === 1;
      cutter.cutAt(0, loss, 'changes');
      const gone = cutter.cut().then(() => (retries ? undefined : cutter.shut()));
      const answer = await rotate();
      await gone;
      if (!retries) {
        expect(answer.status).toBe(500);
        expect((await config()).root_rotation.state).toBe('unsettled');
        expect(dataOf<{ root: object }>(await mount.read('failing')).root).toMatchObject({ state: 'unsettled' });
        expect(await works()).toBe(false);
        cutter.open();
      }
      expect(await works()).toBe(true);
      for (let i = 0; i < 20; i += 1) await mount.advance(30);
      expect(await works()).toBe(true);
      expect((await config()).root_rotation).toMatchObject({ state: 'idle', last_error: null });
      expect(await view.takes(managerDn, managerPassword)).toBe(false);
    },
  );

  test('one that is not finished keeps its new password from another address, also where bindpass is sent with it', async () => {
    cutter.cutAt(0, 'answer', 'changes');
    const gone = cutter.cut().then(() => cutter.shut());
    expect((await rotate()).status).toBe(500);
    await gone;
    const policy = 'path "ldap/config" { capabilities = ["update"] }';
    await mount.call('update', 'sys/policies/acl/writer', { data: { policy } });
    const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } })).auth!.client_token;
    const moved = async (data: Record<string, unknown>) => {
      const { status, errors } = await mount.call('update', 'ldap/config', { data, token });
      return [status, errors?.join()];
    };
    expect(await moved({ url: slapd.url, bindpass: 'mine' })).toEqual([
      400,
      'url: a rotation of bindpass is not finished, and a new value would send its new password to another address; wait until root_rotation is idle, or use a token whose policy grants sudo on this path',
    ]);
    expect((await moved({ bindpass: managerPassword }))[0]).toBe(204);
    expect((await moved({ url: slapd.url, binddn: slapd.adminDn, bindpass: slapd.adminPassword }))[0]).toBe(204);
  });

  test('the previous password is tried for ten minutes, for servers that have not heard of the change', async () => {
    await rotate();
    const behind = await startSlapd(withManager);
    try {
      await mount.write('config', { url: behind.url });
      expect(await works()).toBe(true);
      await mount.advance('11m');
      const answer = await mount.call('update', 'ldap/static-role/late', { data: { username: 'svc9', rotation_period: '24h' } });
      expect(answer.errors!.join()).toContain('failed to bind with current password: LDAP Result Code 49');
    } finally {
      await behind.stop();
    }
  });

  test('when neither password is taken within the ten minutes, the answer says so', async () => {
    await rotate();
    await view.setPassword(managerDn, 'changed by somebody else');
    // Earlier connections are bound already.
    await mount.write('config', { userdn: SVC });
    const answer = await mount.call('update', 'ldap/static-role/late', { data: { username: 'svc9', rotation_period: '24h' } });
    expect(answer).toMatchObject({ status: 500 });
    expect(answer.errors!.join()).toContain('failed to bind with current and prior password: LDAP Result Code 49');
    await mount.write('config', configFor(cutter, { bindpass: 'changed by somebody else' }));
    expect(await works()).toBe(true);
  });

  test.each<[string, () => ReturnType<typeof rotate>]>([
    ['DELETE config', async () => mount.call('delete', 'ldap/config')],
    ['a write of binddn', async () => mount.call('update', 'ldap/config', { data: { binddn: slapd.adminDn } })],
    ['a write of bindpass', async () => mount.call('update', 'ldap/config', { data: { bindpass: managerPassword } })],
    ['a write of url', async () => mount.call('update', 'ldap/config', { data: { url: slapd.url } })],
  ])('while it is under way, %s is refused with 429, and the new password is not lost', async (_, interrupt) => {
    cutter.stall();
    const rotating = rotate();
    await cutter.stalled();
    const { status, errors } = await interrupt();
    const other = await mount.call('update', 'ldap/config', { data: { binddn: managerDn, ttl: '2h' } });
    cutter.resume();
    expect((await rotating).status).toBe(204);
    expect({ status, errors }).toEqual({ status: 429, errors: [expect.stringContaining('while bindpass is being rotated')] });
    expect(other.status).toBe(204);
    expect(await view.takes(managerDn, managerPassword)).toBe(false);
    expect(await works()).toBe(true);
    const { status: deleted, warnings } = await mount.call('delete', 'ldap/config');
    expect([deleted, warnings!.join()]).toEqual([
      200,
      expect.stringContaining(`the password of ${managerDn} was rotated, and the new one is stored nowhere`),
    ]);
  });

  test('while the directory is away it fails, and is made in the background once it is back', async () => {
    cutter.shut();
    expect((await rotate()).status).toBe(500);
    expect(dataOf<{ root: object }>(await mount.read('failing')).root).toMatchObject({ state: 'failed', next_attempt: expect.any(String) });
    for (let i = 0; i < 10; i += 1) await mount.advance(30);
    expect(dataOf<{ root: object }>(await mount.read('failing')).root).toMatchObject({ state: 'failing' });
    cutter.open();
    for (let i = 0; i < 30; i += 1) await mount.advance(30);
    expect(await view.takes(managerDn, managerPassword)).toBe(false);
    expect(await works()).toBe(true);
    expect((await config()).root_rotation).toMatchObject({ state: 'idle', attempts: 0, last_error: null });
  });

  test.each([
    ['bindpass', () => ({ bindpass: managerPassword })],
    ['url', () => ({ url: slapd.url })],
    ['binddn', () => ({ binddn: slapd.adminDn, bindpass: slapd.adminPassword })],
  ])('what was asked for while the directory was away is not made after a write of %s', async (_parameter, write) => {
    cutter.shut();
    expect((await rotate()).status).toBe(500);
    await mount.write('config', write());
    cutter.open();
    for (let i = 0; i < 30; i += 1) await mount.advance(30);
    expect(await view.takes(managerDn, managerPassword)).toBe(true);
    expect(await works()).toBe(true);
  });

  test('rotations that come together are one', async () => {
    const answers = await Promise.all([rotate(), rotate(), rotate()]);
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(await works()).toBe(true);
  });
});
