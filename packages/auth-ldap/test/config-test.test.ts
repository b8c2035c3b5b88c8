import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { describeWithSlapd, type Slapd, startSlapd, startTcpProxy } from '@strongroom/lab';
import { groups, mounted, people, serviceConfig, type MountedLdap } from './mounted.ts';

interface Report {
  ok: boolean;
  steps: { step: string; ok: boolean; milliseconds: number }[];
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 4_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('it never came true');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describeWithSlapd('POST config/test', () => {
  let slapd: Slapd;
  let mount: MountedLdap;

  beforeAll(async () => {
    slapd = await startSlapd();
  });
  afterAll(() => slapd?.stop());

  beforeEach(async () => {
    mount = await mounted();
  });
  afterEach(() => mount.close());

  const tried = async (data: Record<string, unknown>): Promise<Report> => (await mount.write('config/test', data)).data as Report;
  const names = ({ steps }: Report): string[] => steps.map(({ step }) => step);

  test('it walks every step without storing the configuration or issuing a token', async () => {
    await mount.write('groups/eng', { policies: 'engpol' });
    const answer = await mount.write('config/test', {
      ...serviceConfig(slapd),
      token_policies: 'base',
      username: 'User1',
      password: 'pw1',
    });
    expect(answer.auth).toBeNull();
    expect(answer.data).toEqual({
      ok: true,
      user_dn: `uid=user1,${people}`,
      groups: ['eng'],
      policies: ['base', 'default', 'engpol'],
      steps: [
        { step: 'connect', ok: true, milliseconds: 0, url: slapd.url },
        { step: 'service bind', ok: true, milliseconds: 0, url: slapd.url, name: slapd.adminDn },
        { step: 'user search', ok: true, milliseconds: 0, base: people, filter: '(uid=User1)', count: 1 },
        { step: 'user bind', ok: true, milliseconds: 0, url: slapd.url, name: `uid=user1,${people}` },
        { step: 'group search', ok: true, milliseconds: 0, base: groups, filter: `(member=uid=user1,${people})`, count: 1 },
        { step: 'policies', ok: true, milliseconds: 0, count: 3 },
      ],
    });
    expect((await mount.read('config')).data).toMatchObject({ url: 'ldap://127.0.0.1', binddn: '' });
  });

  test('it ends at the step that failed and says why', async () => {
    const config = serviceConfig(slapd);
    const last = async (data: Record<string, unknown>) => {
      const report = await tried({ ...config, username: 'user1', password: 'pw1', ...data });
      expect(report.ok).toBe(false);
      return report.steps.at(-1);
    };
    expect(await last({ url: 'ldap://127.0.0.1:1' })).toMatchObject({
      step: 'connect',
      fault: true,
      error: expect.stringContaining('127.0.0.1:1'),
    });
    expect(await last({ starttls: true })).toMatchObject({ step: 'tls', fault: true });
    expect(await last({ bindpass: 'wrong' })).toMatchObject({
      step: 'service bind',
      fault: true,
      error: expect.stringContaining('Code 49'),
    });
    expect(await last({ username: 'none' })).toMatchObject({ step: 'user search', fault: false, count: 0 });
    expect(await last({ password: 'wrong' })).toMatchObject({ step: 'user bind', fault: false });
    expect(await last({ groupdn: 'ou=nowhere' })).toMatchObject({ step: 'group search', fault: true });
  });

  test('TLS is a step of its own, with its version, and none without TLS', async () => {
    const { certificate } = slapd.ca;
    for (const data of [{ starttls: true }, { url: slapd.ldapsUrl }])
      expect((await tried({ ...serviceConfig(slapd), ...data, certificate, tls_max_version: 'tls13' })).steps).toMatchObject([
        { step: 'connect', ok: true },
        { step: 'tls', ok: true, protocol: 'TLSv1.3' },
        { step: 'service bind', ok: true },
      ]);
    expect((await tried({ ...serviceConfig(slapd), url: slapd.ldapsUrl })).steps).toMatchObject([
      { step: 'connect', ok: true },
      { step: 'tls', ok: false, fault: true, error: expect.stringContaining('certificate') },
    ]);
  });

  test("each step's time is what it took, without the connection that it needed", async () => {
    const proxy = await startTcpProxy(slapd.port);
    try {
      const url = `ldap://127.0.0.1:${proxy.port}`;
      proxy.hold();
      const report = tried({ ...serviceConfig(slapd), url, username: 'user1' });
      await until(() => proxy.held > 0);
      await mount.clock.advance('3s');
      proxy.release();
      expect((await report).steps.map(({ step, milliseconds }) => [step, milliseconds])).toEqual([
        ['connect', 0],
        ['service bind', 3_000],
        ['user search', 0],
        ['group search', 0],
        ['policies', 0],
      ]);
      // Again, with every request and every answer held back for a second: a step that bound its connection first would take four.
      const slow = tried({ ...serviceConfig(slapd), url, username: 'user1', password: 'pw1' });
      let done = false;
      void slow.finally(() => (done = true));
      while (!done) {
        proxy.hold();
        await until(() => done || proxy.held > 0);
        if (!done) await mount.clock.advance('1s');
        proxy.release();
      }
      const times = Object.fromEntries((await slow).steps.map(({ step, milliseconds }) => [step, milliseconds / 1_000]));
      for (const step of ['service bind', 'user search', 'user bind', 'group search'])
        expect([step, times[step]! < 4]).toEqual([step, true]);
    } finally {
      await proxy.stop();
    }
  });

  test('without a user it ends after the service bind, without a password it only looks the user up', async () => {
    await mount.write('config', serviceConfig(slapd));
    expect(names(await tried({}))).toEqual(['connect', 'service bind']);
    expect(names(await tried({ username: 'user1' }))).toEqual(['connect', 'service bind', 'user search', 'group search', 'policies']);
  });

  test('without a password, what only the user could look up is a step that fails, and not an empty result', async () => {
    const own = { url: slapd.url, userdn: people, userattr: 'uid', groupdn: groups, groupfilter: '(member={{.UserDN}})' };
    const nobody = await tried({ ...own, username: 'no-such-user' });
    expect(nobody).toMatchObject({
      ok: false,
      steps: [
        { step: 'connect', ok: true },
        { step: 'user search', ok: false, fault: false },
      ],
    });
    expect(nobody).not.toHaveProperty('groups');
    const found = await tried({ ...own, discoverdn: true, username: 'user1' });
    expect(names(found)).toEqual(['connect', 'user search', 'group search']);
    expect(found).toMatchObject({ ok: false, user_dn: `uid=user1,${people}` });
    expect(found.steps.at(-1)).toMatchObject({ ok: false, error: expect.stringContaining('send the password') });
    expect(found).not.toHaveProperty('groups');
    expect(await tried({ ...own, discoverdn: true, groupdn: '', username: 'user1' })).toMatchObject({ ok: true, groups: [] });
    expect(await tried({ ...own, username: 'user1', password: 'pw1' })).toMatchObject({ ok: true, groups: ['eng'] });
  });

  test('dereference_aliases: an unknown value is reported', async () => {
    const { warnings } = await mount.write('config/test', { ...serviceConfig(slapd), dereference_aliases: 'sometimes' });
    expect(warnings).toEqual([expect.stringContaining('dereference_aliases is none of never, finding, searching, always')]);
  });

  test('takes sudo, since it tries passwords that the lockout does not count', async () => {
    await mount.write('config', serviceConfig(slapd));
    const asked = async (capabilities: string[]): Promise<number> => {
      const policy = `path "auth/ldap/config/test" { capabilities = ${JSON.stringify(capabilities)} }`;
      await mount.call('update', 'sys/policies/acl/tester', { data: { policy } });
      const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['tester'] } })).auth!.client_token;
      return (await mount.call('update', 'auth/ldap/config/test', { token, data: {} })).status;
    };
    expect(await asked(['create', 'update'])).toBe(403);
    expect(await asked(['update', 'sudo'])).toBe(200);
  });

  test('the stored password of the service account goes to no other server', async () => {
    await mount.write('config', serviceConfig(slapd));
    for (const data of [{ url: 'ldap://127.0.0.1:1' }, { insecure_tls: true }]) {
      expect(await mount.call('update', 'auth/ldap/config/test', { data })).toMatchObject({
        status: 400,
        errors: [expect.stringContaining('bindpass must be sent')],
      });
    }
    expect(await tried({ url: slapd.url })).toMatchObject({ ok: true });
  });

  test('what the configuration would refuse is refused here too, and a token is needed', async () => {
    for (const data of [{ tls_min_version: 'x' }, { userfilter: '((' }, { url: 'http://x' }])
      expect(await mount.call('update', 'auth/ldap/config/test', { data })).toMatchObject({ status: 400 });
    expect(await mount.call('update', 'auth/ldap/config/test', { token: '', data: {} })).toMatchObject({ status: 403 });
  });
});
