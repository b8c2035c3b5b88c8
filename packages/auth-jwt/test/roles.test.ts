import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { anyone, mounted, type MountedJwt } from './mounted.ts';

const bound = { role_type: 'jwt', user_claim: 'sub', bound_subject: 'alice' };

describe('roles', () => {
  let issuer: OidcIssuer;
  let mount: MountedJwt;

  beforeAll(async () => {
    issuer = await startOidcIssuer();
    mount = await mounted(issuer);
    await mount.write('config', { jwks_url: issuer.jwksUrl });
  });
  afterAll(async () => {
    await mount.close();
    await issuer.stop();
  });

  const written = async (role: object): Promise<string> => {
    const { status, errors } = await mount.call('update', `${mount.path}/role/bad`, { data: role as Record<string, unknown> });
    return `${status} ${errors?.join() ?? ''}`;
  };

  test.each<[string, object, string]>([
    ['no user claim', {}, 'a user claim must be defined on the role'],
    ['an unknown type', { role_type: 'zz', user_claim: 'sub' }, "invalid 'role_type': zz"],
    ['no redirect', { user_claim: 'sub' }, "'allowed_redirect_uris' must be set if 'role_type' is 'oidc' or unspecified."],
    ['no bound', { role_type: 'jwt', user_claim: 'sub' }, 'must have at least one bound constraint when creating/updating a role'],
    ['an unknown kind of match', { ...bound, bound_claims_type: 'zz' }, "invalid 'bound_claims_type': zz"],
    ['a number as glob', { ...bound, bound_claims_type: 'glob', bound_claims: { n: 1 } }, 'claim is not a string: 1'],
    [
      'a bound object',
      { ...bound, bound_claims: { n: { a: 1 } } },
      'bound_claims: "n" must be a text, a number, a boolean, or a list of these',
    ],
    ['a bound list in a list', { ...bound, bound_claims: { n: [[1]] } }, 'bound_claims: "n" must be'],
    ['a bound null', { ...bound, bound_claims: { n: null } }, 'bound_claims: "n" must be'],
    [
      'a pointer with a bare tilde',
      { ...bound, bound_claims: { '/a~b': 'x' } },
      'bound_claims: "/a~b": in a JSON pointer "~" is followed by 0 or 1',
    ],
    ['a reserved key', { ...bound, claim_mappings: { a: 'role' } }, 'metadata key "role" is reserved and may not be a mapping destination'],
    ['a key twice', { ...bound, claim_mappings: { a: 'x', b: 'x' } }, 'multiple keys are mapped to metadata key "x"'],
    ['a user claim that is no pointer', { ...bound, user_claim_json_pointer: true }, 'user_claim: a JSON pointer starts with "/"'],
    ['an unknown mode', { user_claim: 'sub', allowed_redirect_uris: 'http://x', callback_mode: 'zz' }, "invalid 'callback_mode': zz"],
    ['unknown tokens', { ...bound, oauth2_metadata: 'zz' }, 'Unrecognized oauth2 metadata name zz'],
    ['an odd token type', { ...bound, token_type: 'odd' }, `invalid 'token_type' value "odd"`],
    ['the policy root', { ...bound, token_policies: 'a, Root ' }, 'token_policies: no login can give the policy "root"'],
    [
      'a template that is none',
      { ...bound, token_policies: '{{.a', token_policies_template_claims: true },
      'token_policies: "{{.a" is not a template',
    ],
    ['a negative poll interval', { ...bound, poll_interval: -1 }, 'poll_interval'],
    ['a negative age', { ...bound, max_token_age: -1 }, 'max_token_age'],
  ])('with %s are refused', async (_what, role, text) => {
    const answer = await written(role);
    expect(answer.startsWith('400 ')).toBe(true);
    expect(answer).toContain(text);
  });

  test('keep what a write leaves out, but for four parameters that it resets', async () => {
    const all = {
      ...anyone,
      bound_claims_type: 'glob',
      bound_claims: { ref: 'main' },
      claim_mappings: { email: 'mail' },
      callback_mode: 'direct',
      oidc_disable_confirmation: true,
      clock_skew_leeway: '-5s',
      max_token_age: '1h',
      reject_replays: true,
      poll_interval: 7,
    };
    await mount.write('role/all', all);
    await mount.write('role/all', { role_type: 'jwt', groups_claim: 'groups' });
    expect((await mount.read('role/all')).data).toMatchObject({
      role_type: 'jwt',
      bound_audiences: ['strongroom'],
      bound_claims: { ref: 'main' },
      bound_claims_type: 'string',
      claim_mappings: { email: 'mail' },
      callback_mode: 'client',
      oidc_disable_confirmation: false,
      clock_skew_leeway: -5,
      max_token_age: 3600,
      reject_replays: true,
      poll_interval: 7,
      groups_claim: 'groups',
    });
    await expect(mount.write('role/all', {})).rejects.toThrow('allowed_redirect_uris');
  });

  test('say that verbose logging is on', async () => {
    const { status, warnings } = await mount.write('role/verbose', { ...bound, verbose_oidc_logging: true });
    expect({ status, count: warnings?.length }).toEqual({ status: 200, count: 1 });
  });

  test('are read as they are stored, lists and maps that are not set as null', async () => {
    await mount.write('role/Plain', { ...bound, policies: 'A,b', ttl: '5m' });
    const { data } = await mount.read('role/plain');
    expect(data).toMatchObject({ bound_claims: null, bound_audiences: null, token_policies: ['a', 'b'], policies: ['a', 'b'], ttl: 300 });
    expect(Object.keys(data as object)).not.toContain('reject_replays');
  });

  test('whose policies are templates keep the case of the claims in them', async () => {
    await mount.write('role/template', { ...anyone, token_policies: 'Team-{{.Team}},fixed', token_policies_template_claims: true });
    expect((await mount.read('role/template')).data).toMatchObject({ token_policies: ['Team-{{.Team}}', 'fixed'] });
    const policies = async (claims: object): Promise<unknown> => {
      const { auth, errors } = await mount.login('template', issuer.sign({ sub: 'alice', aud: 'strongroom', ...claims }));
      return auth?.policies ?? errors;
    };
    expect(await policies({ Team: 'Red' })).toEqual(['default', 'fixed', 'team-red']);
    expect(await policies({ Team: 12345678901234 })).toEqual(['default', 'fixed', 'team-12345678901234']);
    expect(await policies({})).toEqual([expect.stringContaining('token_policies: ')]);
    await mount.write('role/template', { role_type: 'jwt', token_policies: '{{if .admin}}ops{{end}},{{range .groups}}{{.}}{{end}}' });
    expect(await policies({ admin: false, groups: [] })).toEqual(['default']);
    expect(await policies({ admin: true, groups: ['x', 'y'] })).toEqual(['default', 'ops', 'xy']);
  });

  test('whose templates give the policy root refuse the login', async () => {
    await mount.write('role/rooted', { ...anyone, token_policies: '{{.p}}', token_policies_template_claims: true });
    for (const p of ['root', ' Root', 'ROOT\n']) {
      expect((await mount.login('rooted', issuer.sign({ sub: 'alice', aud: 'strongroom', p }))).errors).toEqual([
        'auth methods cannot create root tokens',
      ]);
    }
  });
});
