import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { anyone, mounted, type MountedJwt } from './mounted.ts';

interface Report {
  readonly ok: boolean;
  readonly steps: readonly { readonly step: string; readonly ok: boolean; readonly error?: string; readonly fault?: boolean }[];
}

describe('config/test', () => {
  let issuer: OidcIssuer;
  let mount: MountedJwt;

  beforeAll(async () => {
    issuer = await startOidcIssuer();
  });
  beforeEach(async () => {
    mount = await mounted(issuer);
    await mount.write('role/ci', {
      ...anyone,
      groups_claim: 'groups',
      bound_claims: { level: 5 },
      claim_mappings: { email: 'mail' },
      token_policies: 'ci',
    });
  });
  afterEach(async () => mount.close());
  afterAll(async () => issuer.stop());

  const alice = { sub: 'alice', aud: 'strongroom', groups: ['eng'], level: 5, email: 'a@b' };
  const tried = async (data: object): Promise<Report> => (await mount.write('config/test', data as Record<string, unknown>)).data as Report;
  /** The steps that passed, and the one that failed with its text. */
  const outcome = ({ steps }: Report): string =>
    steps.map(({ step, error }) => (error === undefined ? step : `${step}: ${error}`)).join(', ');

  test('fetches the keys of a configuration that is not stored', async () => {
    const report = await tried({ jwks_url: issuer.jwksUrl });
    expect(report).toMatchObject({ ok: true, steps: [{ step: 'keys', ok: true, source: issuer.jwksUrl, count: 3 }] });
    expect((await mount.call('read', `${mount.path}/config`)).status).toBe(404);
  });

  test('walks a token through a role, and says what it would get', async () => {
    await mount.write('config', { oidc_discovery_url: issuer.url, default_role: 'ci' });
    const report = await tried({ jwt: issuer.sign(alice) });
    expect(outcome(report)).toBe(
      'keys, signature, role, issuer, subject, audience, times, user claim, mapping, groups, bound claims, policies',
    );
    expect(report).toMatchObject({
      ok: true,
      alias: 'alice',
      groups: ['eng'],
      metadata: { mail: 'a@b', role: 'ci' },
      policies: ['ci', 'default'],
    });
  });

  test('without a role, ends with the times', async () => {
    await mount.write('config', { oidc_discovery_url: issuer.url });
    expect(outcome(await tried({ jwt: issuer.sign(alice) }))).toBe('keys, signature, issuer, times');
  });

  const upTo = (step: string): string => {
    const all = 'keys, signature, role, issuer, subject, audience, times, user claim, mapping, groups, bound claims, policies'.split(', ');
    return all
      .slice(0, all.indexOf(step))
      .map((passed) => `${passed}, `)
      .join('');
  };

  test.each<[string, () => object, string]>([
    [
      'signature',
      () => ({ jwt: issuer.sign(alice, { forged: true }) }),
      'error validating token: error verifying token signature: failed to verify id token signature',
    ],
    ['role', () => ({ jwt: issuer.sign(alice), role: 'none' }), 'role "none" could not be found'],
    ['issuer', () => ({ jwt: issuer.sign({ ...alice, iss: 'x' }) }), 'error validating token: invalid issuer (iss) claim'],
    [
      'audience',
      () => ({ jwt: issuer.sign({ ...alice, aud: 'x' }) }),
      'error validating token: invalid audience (aud) claim: audience claim does not match any expected audience',
    ],
    [
      'times',
      () => ({ jwt: issuer.sign({ ...alice, exp: 1 }) }),
      'error validating token: invalid expiration time (exp) claim: token is expired',
    ],
    ['user claim', () => ({ jwt: issuer.sign({ ...alice, sub: undefined }) }), 'claim "sub" not found in token'],
    ['mapping', () => ({ jwt: issuer.sign({ ...alice, email: 7 }) }), "error converting claim 'email' to string"],
    ['groups', () => ({ jwt: issuer.sign({ ...alice, groups: undefined }) }), 'failed to fetch groups: "groups" claim not found in token'],
    [
      'bound claims',
      () => ({ jwt: issuer.sign({ ...alice, level: '5' }) }),
      'error validating claims: claim "level" does not match any associated bound claim values',
    ],
  ])('ends with the step %s when it fails, and says why', async (step, data, error) => {
    await mount.write('config', { oidc_discovery_url: issuer.url, default_role: 'ci' });
    const report = await tried(data());
    expect(report.ok).toBe(false);
    expect(outcome(report)).toBe(`${upTo(step)}${step}: ${error}`);
  });

  test('names the source that cannot be reached', async () => {
    const report = await tried({ oidc_discovery_url: 'http://127.0.0.1:1' });
    expect(report).toMatchObject({ ok: false, steps: [{ step: 'keys', ok: false, source: 'http://127.0.0.1:1' }] });
    expect(outcome(report)).toContain('error checking oidc discovery URL');
  });

  test('refuses what a write would refuse', async () => {
    await expect(mount.write('config/test', { jwks_url: 'zz' })).rejects.toThrow('jwks_url: not an address');
  });

  test('is for callers with sudo', async () => {
    await mount.call('update', 'sys/policies/acl/tester', {
      data: { policy: `path "${mount.path}/config/test" { capabilities = ["update"] }` },
    });
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['tester'] } });
    const { status } = await mount.call('update', `${mount.path}/config/test`, { data: {}, token: made.auth!.client_token });
    expect(status).toBe(403);
  });
});
