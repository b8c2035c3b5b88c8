import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { configFor, dataOf, managerDn, managerPassword, mountLdap, SVC, withManager } from './ldap-mount.ts';

interface Report {
  ok: boolean;
  steps: { step: string; ok: boolean; milliseconds: number; error?: string; url?: string; name?: string; protocol?: string }[];
  user_dn?: string;
}

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('POST config/test', () => {
  let slapd: Slapd;
  let mount: TestMount;
  beforeAll(async () => {
    slapd = await startSlapd(withManager);
  });
  afterAll(async () => slapd.stop());
  beforeEach(async () => {
    mount = await mountLdap(slapd);
  });
  afterEach(async () => mount.close());

  const tried = async (data: Record<string, unknown> = {}): Promise<Report> => dataOf<Report>(await mount.write('config/test', data));
  const trail = ({ steps }: Report): string[] => steps.map(({ step, ok }) => `${step} ${ok ? 'ok' : 'failed'}`);

  test('walks connect, service bind and user search of the stored configuration, each with its time', async () => {
    const report = await tried({ username: 'svc1' });
    expect(report).toEqual({
      ok: true,
      steps: [
        { step: 'connect', ok: true, milliseconds: expect.any(Number), url: slapd.url },
        { step: 'service bind', ok: true, milliseconds: expect.any(Number), url: slapd.url, name: managerDn },
        { step: 'user search', ok: true, milliseconds: expect.any(Number), name: `uid=svc1,${SVC}` },
      ],
      user_dn: `uid=svc1,${SVC}`,
    });
    expect(trail(await tried())).toEqual(['connect ok', 'service bind ok']);
    expect((await tried({ dn: `uid=svc2,${SVC}` })).user_dn).toBe(`uid=svc2,${SVC}`);
  });

  test('TLS is a step of its own, with StartTLS and without', async () => {
    const tls = { bindpass: managerPassword, certificate: slapd.ca.certificate };
    for (const more of [{ url: slapd.ldapsUrl }, { starttls: true }]) {
      const report = await tried({ ...tls, ...more });
      expect(trail(report)).toEqual(['connect ok', 'tls ok', 'service bind ok']);
      expect(report.steps[1]!.protocol).toBe('TLSv1.2');
    }
    const distrusted = await tried({ ...tls, url: slapd.ldapsUrl, certificate: '' });
    expect(trail(distrusted)).toEqual(['connect ok', 'tls failed']);
    expect(distrusted.steps[1]!.error).toMatch(/certificate/i);
  });

  test.each<[string, Record<string, unknown>, string[], string]>([
    ['a server that is gone', { url: 'ldap://127.0.0.1:1', bindpass: 'x' }, ['connect failed'], 'ldap://127.0.0.1:1'],
    ['a wrong password', { bindpass: 'x' }, ['connect ok', 'service bind failed'], 'Invalid Credentials'],
    [
      'an account that is not there',
      { username: 'nosuch' },
      ['connect ok', 'service bind ok', 'user search failed'],
      'filter (uid=nosuch)',
    ],
    [
      'a base that is not there',
      { username: 'a', userdn: 'dc=none' },
      ['connect ok', 'service bind ok', 'user search failed'],
      'No Such Object',
    ],
  ])('ends at the step that fails, and says why: %s', async (_, data, steps, error) => {
    const report = await tried(data);
    expect(report.ok).toBe(false);
    expect(trail(report)).toEqual(steps);
    expect(report.steps.at(-1)!.error).toContain(error);
  });

  test('password_policy: one password is made by it and thrown away; a policy that is not there fails', async () => {
    const policy = 'length = 20\nrule "charset" {\n  charset = "abc"\n}\n';
    await mount.call('update', 'sys/policies/password/abc', { data: { policy } });
    const report = await tried({ password_policy: 'abc' });
    expect(trail(report)).toEqual(['connect ok', 'service bind ok', 'password ok']);
    expect(report.steps.at(-1)).toEqual({ step: 'password', ok: true, milliseconds: expect.any(Number), name: 'abc' });
    const missing = await tried({ password_policy: 'nope', username: 'svc1' });
    expect(missing).toMatchObject({ ok: false, user_dn: `uid=svc1,${SVC}` });
    expect(trail(missing)).toEqual(['connect ok', 'service bind ok', 'user search ok', 'password failed']);
    expect(missing.steps.at(-1)!.error).toContain('password_policy "nope"');
  });

  test('takes sudo, since it tries passwords', async () => {
    const asked = async (capabilities: string[]): Promise<number> => {
      const policy = `path "ldap/config/test" { capabilities = ${JSON.stringify(capabilities)} }`;
      await mount.call('update', 'sys/policies/acl/tester', { data: { policy } });
      const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['tester'] } })).auth!.client_token;
      return (await mount.call('update', 'ldap/config/test', { token })).status;
    };
    expect(await asked(['create', 'update'])).toBe(403);
    expect(await asked(['update', 'sudo'])).toBe(200);
  });

  test('tries what is not stored, and stores nothing', async () => {
    await mount.delete('config');
    expect((await tried(configFor(slapd))).ok).toBe(true);
    expect((await mount.call('read', 'ldap/config')).status).toBe(404);
  });

  test('what could not be stored is refused; the stored bindpass goes nowhere but to the stored server', async () => {
    const asked = async (data: Record<string, unknown>) => mount.call('update', 'ldap/config/test', { data });
    expect((await asked({ schema: 'odd' })).status).toBe(400);
    expect(await asked({ url: 'ldap://127.0.0.1:1' })).toMatchObject({
      status: 400,
      errors: [expect.stringContaining('bindpass must be sent')],
    });
  });
});
