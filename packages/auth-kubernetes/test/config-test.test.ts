import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestCa } from '@strongroom/lab';
import { appRole, forStrongroom, mounted, type MountedKubernetes } from './mounted.ts';

let mount: MountedKubernetes;
beforeAll(async () => (mount = await mounted()));
afterAll(async () => mount.stop());
beforeEach(async () => {
  mount.api.become('well');
  await mount.write('config', mount.config);
  await mount.write('role/app', appRole);
});

interface Report {
  readonly ok: boolean;
  readonly steps: readonly { readonly step: string; readonly ok: boolean; readonly error?: string; readonly fault?: boolean }[];
  readonly policies?: readonly string[];
}
const tried = async (data: Record<string, unknown> = {}): Promise<Report> => (await mount.write('config/test', data)).data as Report;
const namesOf = ({ steps }: Report): string[] => steps.map(({ step, ok }) => (ok ? step : `${step} failed`));

describe('config/test', () => {
  test('reaches the API server, and asks whether it accepts the reviewer', async () => {
    const report = await tried();
    expect(report.ok).toBe(true);
    expect(report.steps).toEqual([
      expect.objectContaining({ step: 'connect', url: mount.api.url }),
      expect.objectContaining({ step: 'tls', protocol: 'TLSv1.3' }),
      expect.objectContaining({ step: 'reviewer', reviewer: 'token_reviewer_jwt' }),
    ]);
  });

  test('with a token and a role takes every step of a login, and issues nothing', async () => {
    const report = await tried({ role: 'APP', jwt: mount.api.issue(forStrongroom) });
    expect(namesOf(report)).toEqual([
      'connect',
      'tls',
      'reviewer',
      'token',
      'token review',
      'role',
      'service account name',
      'namespace',
      'policies',
    ]);
    expect(report).toMatchObject({
      ok: true,
      service_account: 'default/app',
      alias: mount.api.uidOf('default', 'app'),
      policies: ['app', 'default'],
    });
  });

  test('shows the labels that a selector has seen', async () => {
    await mount.write('role/app', {
      ...appRole,
      bound_service_account_namespaces: 'x',
      bound_service_account_namespace_selector: 'matchLabels: {team: blue}',
    });
    const { steps } = await tried({ role: 'app', jwt: mount.api.issue(forStrongroom) });
    expect(steps.at(-1)).toMatchObject({
      step: 'namespace selector',
      ok: false,
      labels: { team: 'red' },
      error: 'namespace not authorized',
    });
  });

  test('says why a login is refused, as no login does', async () => {
    const failing = async (role: string, request: object): Promise<unknown> =>
      (await tried({ role, jwt: mount.api.issue({ ...forStrongroom, ...request }) })).steps.at(-1);
    expect(await failing('none', {})).toMatchObject({ step: 'role', error: 'there is no such role', fault: false });
    expect(await failing('', {})).toMatchObject({ step: 'role', error: 'missing role' });
    expect(await failing('app', { name: 'x' })).toMatchObject({
      step: 'service account name',
      error: 'service account name not authorized',
    });
    expect(await failing('app', { namespace: 'x' })).toMatchObject({ step: 'namespace', error: 'namespace not authorized' });
    expect(await failing('app', { audiences: ['x'] })).toMatchObject({
      step: 'token review',
      error: expect.stringContaining('not for the audience strongroom but for x'),
    });
    expect(await failing('app', { forged: true })).toMatchObject({
      step: 'token review',
      error: expect.stringContaining('invalid bearer token'),
    });
    expect(await failing('app', { expires: -100 })).toMatchObject({ step: 'token', error: expect.stringContaining('expired') });
  });

  test('says which step of reaching the API server fails, and that the caller is not to blame', async () => {
    const unreachable = await tried({ kubernetes_host: 'https://127.0.0.1:1', token_reviewer_jwt: 'x' });
    expect(unreachable.steps).toEqual([
      expect.objectContaining({ step: 'connect', ok: false, error: expect.stringContaining('ECONNREFUSED'), fault: true }),
    ]);
    const distrusted = await tried({ kubernetes_ca_cert: createTestCa().certificate, token_reviewer_jwt: 'x' });
    expect(namesOf(distrusted)).toEqual(['connect', 'tls failed']);
    const refused = await tried({ token_reviewer_jwt: 'x' });
    expect(refused.steps.at(-1)).toMatchObject({ step: 'reviewer', error: '401: Unauthorized', fault: true });
    const forbidden = await tried({ token_reviewer_jwt: mount.api.issue() });
    expect(forbidden.steps.at(-1)).toMatchObject({ step: 'reviewer', error: expect.stringMatching(/^403: tokenreviews.*is forbidden/) });
    mount.api.become('failing');
    expect((await tried()).steps.at(-1)).toMatchObject({ step: 'reviewer', error: expect.stringContaining('etcdserver'), fault: true });
  });

  test('goes on while the circuit breaker of logins is open, and does not count for it', async () => {
    mount.api.become('failing');
    for (let i = 0; i < 6; i += 1) await tried();
    expect((await mount.login('app', mount.api.issue(forStrongroom))).status).toBe(500);
  });

  test('stores nothing, and sends the stored reviewer to no other server', async () => {
    const before = mount.api.requests.length;
    const other = await tried({ kubernetes_host: mount.api.url.replace('127.0.0.1', 'localhost') });
    expect(namesOf(other)).toEqual(['connect', 'tls']);
    expect(mount.api.requests).toHaveLength(before);
    const moved = await mount.call('update', 'auth/kubernetes/config/test', { data: { kubernetes_ca_cert: createTestCa().certificate } });
    expect(moved).toMatchObject({ status: 400, errors: [expect.stringContaining('token_reviewer_jwt')] });
    expect((await mount.read('config')).data).toMatchObject({ kubernetes_host: mount.api.url, token_reviewer_jwt_set: true });
  });

  test('takes sudo, and on a mount without configuration all parameters', async () => {
    await mount.call('update', 'sys/policies/acl/tester', { data: { policy: 'path "auth/kubernetes/*" { capabilities = ["update"] }' } });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['tester'] } });
    expect((await mount.call('update', 'auth/kubernetes/config/test', { data: {}, token: auth!.client_token })).status).toBe(403);
    await mount.call('update', 'sys/auth/second', { data: { type: 'kubernetes' } });
    expect(await mount.call('update', 'auth/second/config/test', { data: {} })).toMatchObject({
      status: 400,
      errors: ['no host provided'],
    });
    expect((await mount.call('update', 'auth/second/config/test', { data: mount.config })).data).toMatchObject({ ok: true });
  });

  test('shows no token in its answer', async () => {
    const jwt = mount.api.issue({ ...forStrongroom, forged: true });
    const text = JSON.stringify(await tried({ role: 'app', jwt, token_reviewer_jwt: mount.api.reviewer }));
    for (const secret of [jwt, mount.api.reviewer]) expect(text).not.toContain(secret);
  });
});
