import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { anyone, mounted, type MountedJwt } from './mounted.ts';

describe('the bounds of a role', () => {
  let issuer: OidcIssuer;
  let mount: MountedJwt;
  let roles = 0;

  beforeAll(async () => {
    issuer = await startOidcIssuer();
    mount = await mounted(issuer);
    await mount.write('config', { jwks_url: issuer.jwksUrl });
  });
  afterAll(async () => {
    await mount.close();
    await issuer.stop();
  });

  /** Logs in to a role of these parameters; the text of a refusal. */
  async function tried(role: object, claims: object): Promise<string> {
    const name = `role-${(roles += 1)}`;
    await mount.write(`role/${name}`, { role_type: 'jwt', user_claim: 'sub', ...role });
    const { errors } = await mount.login(name, issuer.sign({ sub: 'alice', ...claims }));
    return errors?.join() ?? 'welcome';
  }

  const noMatch = 'error validating claims: claim "x" does not match any associated bound claim values';

  test.each<[string, unknown, unknown, string]>([
    ['a text', 'a', 'a', 'welcome'],
    ['another text', 'a', 'b', noMatch],
    ['a text in another case', 'a', 'A', noMatch],
    ['one of several values', ['a', 'b'], 'b', 'welcome'],
    ['a list with one of the values', ['a', 'b'], ['c', 'b'], 'welcome'],
    ['a list without any of the values', ['a', 'b'], ['c'], noMatch],
    ['an empty list', ['a'], [], noMatch],
    ['an object', ['a'], { a: 'a' }, noMatch],
    ['a list of objects', ['a'], [{ a: 'a' }], noMatch],
    ['null', ['a'], null, noMatch],
    ['a number', 5, 5, 'welcome'],
    ['the text of a number', 5, '5', noMatch],
    ['a number for a text', '5', 5, noMatch],
    ['a number with a fraction', 5, 5.9, noMatch],
    ['a true for a true', true, true, 'welcome'],
    ['a true for a text', 'true', true, noMatch],
    ['a one for a true', true, 1, noMatch],
    ['a name of a property of every object', 'constructor', 'toString', noMatch],
  ])('a bound claim met by %s', async (_title, bound, value, result) => {
    expect(await tried({ bound_claims: { x: bound } }, { x: value })).toBe(result);
  });

  test.each([
    ['12345678901234567890', '12345678901234567890', true],
    ['12345678901234567890', '12345678901234567891', false],
    ['9007199254740993', '9007199254740992', false],
    ['5', '5.0', true],
    ['5', '50e-1', true],
    ['0.1', '0.10000000000000000001', false],
    ['-0', '0', true],
    ['1e400', '1e400', true],
    ['1e400', '1e401', false],
  ])('the number %s and the number %s are compared digit by digit', async (bound, value, equal) => {
    const { ExactNumber } = await import('@strongroom/engine-sdk');
    const name = `role-${(roles += 1)}`;
    const role = { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'strongroom' };
    const written = await mount.call('update', `${mount.path}/role/${name}`, {
      data: { ...role, bound_claims: { x: Number(bound) } },
      exactData: { ...role, bound_claims: { x: ExactNumber.needed(bound) ? new ExactNumber(bound) : Number(bound) } },
    });
    expect(written.errors).toBeUndefined();
    const token = issuer.sign({ sub: 'alice', aud: 'strongroom', x: '#' }, { replace: { '"#"': value } });
    expect((await mount.login(name, token)).status).toBe(equal ? 200 : 400);
  });

  test('a claim that is missing is named', async () => {
    expect(await tried({ bound_claims: { x: 'a' } }, {})).toBe('error validating claims: claim "x" is missing');
    expect(await tried({ bound_claims: { toString: 'a' } }, {})).toBe('error validating claims: claim "toString" is missing');
    expect(await tried({ bound_claims: { '/deep/x': 'a' } }, { deep: { y: 'a' } })).toBe(
      'error validating claims: claim "/deep/x" is missing',
    );
  });

  test('a bound claim may be a JSON pointer, with ~1 for a slash and ~0 for a tilde', async () => {
    const claims = { deep: { 'a/b': ['x', 'y'], 'c~d': 'z' }, 'e/f': 'plain' };
    expect(await tried({ bound_claims: { '/deep/a~1b': 'y', '/deep/a~1b/0': 'x', '/deep/c~0d': 'z', 'e/f': 'plain' } }, claims)).toBe(
      'welcome',
    );
    expect(await tried({ bound_claims: { '/deep/a~1b/00': 'x' } }, claims)).toContain('is missing');
    expect(await tried({ bound_claims: { '/deep/__proto__': 'x' } }, claims)).toContain('is missing');
  });

  test.each([
    ['refs/heads/rel-*', 'refs/heads/rel-7', true],
    ['refs/heads/rel-*', 'refs/heads/rel-', true],
    ['refs/heads/rel-*', 'refs/heads/REL-7', false],
    ['*', 'a/b.c', true],
    ['a*c', 'abd', false],
    ['repo:org/*:ref:refs/heads/main', 'repo:org/app:ref:refs/heads/main', true],
    ['repo:org/*:ref:refs/heads/main', 'repo:org/app:ref:refs/heads/maintenance', false],
    ['a?c', 'abc', false],
  ])('the glob %s and the text %s', async (pattern, text, matches) => {
    expect(await tried({ bound_claims_type: 'glob', bound_claims: { x: [pattern] } }, { x: ['nothing', text] })).toBe(
      matches ? 'welcome' : noMatch,
    );
  });

  test('a glob is never met by a number', async () => {
    expect(await tried({ bound_claims_type: 'glob', bound_claims: { x: '*' } }, { x: 5 })).toBe(noMatch);
  });

  test('the audience is one text or a list, and nothing else', async () => {
    const role = { bound_audiences: 'strongroom,other' };
    expect(await tried(role, { aud: 'other' })).toBe('welcome');
    expect(await tried(role, { aud: ['nope', 'strongroom'] })).toBe('welcome');
    const refused = 'error validating token: invalid audience (aud) claim: ';
    for (const aud of ['nope', ['nope'], [], '', undefined, 'Strongroom']) {
      expect(await tried(role, { aud })).toBe(`${refused}audience claim does not match any expected audience`);
    }
    for (const aud of [5, null, [5], ['strongroom', 5], { strongroom: true }]) {
      expect(await tried(role, { aud })).toBe(`${refused}neither a text nor a list of texts`);
    }
  });

  test('a role without audiences refuses a token that has one, however it is written', async () => {
    const role = { bound_subject: 'alice' };
    expect(await tried(role, {})).toBe('welcome');
    for (const aud of ['strongroom', ['strongroom']]) {
      expect(await tried(role, { aud })).toBe('audience claim found in JWT but no audiences bound to the role');
    }
    expect(await tried(role, { aud: { a: 1 } })).toContain('invalid audience (aud) claim');
  });

  test('the subject is compared to the letter', async () => {
    expect(await tried({ bound_subject: 'alice' }, { sub: 'Alice' })).toBe('error validating token: invalid subject (sub) claim');
  });

  test('an address outside token_bound_cidrs is refused', async () => {
    await mount.write('role/inside', { ...anyone, token_bound_cidrs: '10.0.0.0/8' });
    const token = issuer.sign({ sub: 'alice', aud: 'strongroom' });
    expect((await mount.login('inside', token, '192.0.2.1')).status).toBe(403);
    expect((await mount.login('inside', token, '10.1.2.3')).status).toBe(200);
  });
});
