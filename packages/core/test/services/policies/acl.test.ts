import { describe, expect, test } from '@jest/globals';
import { Acl } from '../../../src/services/policies/acl.ts';
import { DEFAULT_POLICY } from '../../../src/services/policies/builtin-policies.ts';
import { parsePolicy } from '../../../src/services/policies/policy.ts';
import { aclOf, bob } from './fixture.ts';

const block = (path: string, ...capabilities: string[]) => `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }\n`;
const reads = (acl: Acl, path: string) => acl.check({ operation: 'read', path }).allowed;

describe('which rule decides', () => {
  test('an exact path before every wildcard', () => {
    const acl = aclOf(block('a/*', 'read') + block('a/+', 'read') + block('a/b', 'deny'));
    expect(reads(acl, 'a/b')).toBe(false);
    expect(reads(acl, 'a/c')).toBe(true);
  });

  test('one rule decides alone: a weaker one adds nothing', () => {
    const acl = aclOf(block('a/*', 'read', 'list') + block('a/b/*', 'update'));
    expect(acl.capabilities('a/b/c')).toEqual(['update']);
    expect(acl.capabilities('a/c')).toEqual(['list', 'read']);
  });

  test.each([
    ['the later first wildcard', 'a/b*', 'a/+/c', 'a/b/c'],
    ['a plain end before a closing star', 'a/+/c', 'a/+/*', 'a/b/c'],
    ['fewer plus signs', 'a/+/c/d', 'a/+/+/d', 'a/b/c/d'],
    ['the longer one', 'a/+/cd*', 'a/+/c*', 'a/b/cde'],
    ['the one that sorts later', '+/b/+/d', '+/+/c/d', 'a/b/c/d'],
  ])('%s wins', (_, winner, loser, path) => {
    for (const text of [block(winner, 'read') + block(loser, 'deny'), block(loser, 'deny') + block(winner, 'read')]) {
      expect(reads(aclOf(text), path)).toBe(true);
    }
  });

  test('a plus is one whole segment and may stand more than once', () => {
    const acl = aclOf(block('a/+/c/+', 'read') + block('x+y', 'read') + block('p/+q', 'read'));
    expect(reads(acl, 'a/b/c/d')).toBe(true);
    expect(reads(acl, 'a/b/c')).toBe(false);
    expect(reads(acl, 'a/b/c/d/e')).toBe(false);
    expect(reads(acl, 'xzy')).toBe(false);
    expect(reads(acl, 'x+y')).toBe(true);
    expect(reads(acl, 'p/zq')).toBe(false);
  });

  test('a star in the middle is an ordinary character', () => {
    const acl = aclOf(block('a*b', 'read'));
    expect(reads(acl, 'axb')).toBe(false);
    expect(reads(acl, 'a*b')).toBe(true);
  });

  test('a lone star reaches everything', () => {
    expect(reads(aclOf(block('*', 'read')), 'any/where')).toBe(true);
  });

  test('a slash before the path of a rule does not matter', () => {
    expect(reads(aclOf(block('/a/b', 'read')), 'a/b')).toBe(true);
  });
});

describe('lists', () => {
  const lists = (acl: Acl, path: string) => acl.check({ operation: 'list', path }).allowed;

  test('rules with and without a closing slash allow them', () => {
    expect(lists(aclOf(block('a/b', 'list')), 'a/b/')).toBe(true);
    expect(lists(aclOf(block('a/b/', 'list')), 'a/b/')).toBe(true);
    expect(lists(aclOf(block('+/b', 'list')), 'a/b/')).toBe(true);
    expect(reads(aclOf(block('a/b', 'read')), 'a/b/')).toBe(false);
  });

  test('a more specific deny with a wildcard is not passed by', () => {
    const acl = aclOf(block('foo/metadata/*', 'list') + block('foo/metadata/private/*', 'deny') + block('foo/metadata/+', 'deny'));
    expect(lists(acl, 'foo/metadata/private/')).toBe(false);
    expect(lists(acl, 'foo/metadata/other/')).toBe(false);
    expect(lists(acl, 'foo/metadata/other/below/')).toBe(true);
  });

  test('a more specific permission is not hidden by the other variant', () => {
    expect(lists(aclOf(block('a/*', 'deny') + block('a/b/*', 'list')), 'a/b/')).toBe(true);
  });

  test('scan is its own capability', () => {
    const acl = aclOf(block('a/*', 'list'));
    expect(acl.check({ operation: 'scan', path: 'a/' }).allowed).toBe(false);
    expect(aclOf(block('a', 'scan')).check({ operation: 'scan', path: 'a/' }).allowed).toBe(true);
  });

  test('a page limit is handed on, and a larger page is refused', () => {
    const acl = aclOf(
      'path "a" { capabilities = ["list", "read"]\n pagination_limit = 10 }',
      'path "a" { capabilities = ["list"]\n pagination_limit = 20 }',
    );
    const list = (data?: Record<string, unknown>) => acl.check({ operation: 'list', path: 'a/', data });
    expect(list()).toMatchObject({ allowed: true, paginationLimit: 10 });
    expect(list({ limit: '10' }).allowed).toBe(true);
    for (const limit of [11, '11', 0, -1, 'all', 1.5]) expect(list({ limit }).allowed).toBe(false);
    expect(acl.check({ operation: 'read', path: 'a' })).toMatchObject({ allowed: true, paginationLimit: 0 });
    const strict = aclOf('path "a" { capabilities = ["list"]\n pagination_limit = 10\n required_parameters = ["limit"] }');
    expect(strict.check({ operation: 'list', path: 'a/' }).allowed).toBe(false);
  });
});

describe('filters of keys', () => {
  const filtered = (template: string) =>
    `path "a" { capabilities = ["list", "read"]\n list_scan_response_keys_filter_path = "${template}" }`;
  const sources = (acl: Acl, operation: 'list' | 'read') =>
    acl.check({ operation, path: operation === 'list' ? 'a/' : 'a' }).keysFilters.map(({ source }) => source);

  test('are handed on for lists, all that any policy has for the path, each once', () => {
    const acl = aclOf(filtered('b/{{ .key }}'), block('a', 'list'), filtered('c/{{ .key }}'), filtered('b/{{ .key }}'));
    expect([sources(acl, 'list'), sources(acl, 'read')]).toEqual([['b/{{ .key }}', 'c/{{ .key }}'], []]);
  });

  test('keep a rule from listing everything', () => {
    const sudo = (more: string) => aclOf(`path "a/*" { capabilities = ["list", "sudo"]\n ${more} }`);
    expect(sudo('').listsAll('a/')).toBe(true);
    expect(sudo('list_scan_response_keys_filter_path = "{{ .key }}"').listsAll('a/')).toBe(false);
  });
});

describe('several policies', () => {
  test('capabilities for the same path add up, and the policies that gave one are named', () => {
    const acl = aclOf(block('a', 'read', 'list'), block('a', 'update', 'sudo'), block('a', 'read'));
    expect(acl.capabilities('a')).toEqual(['list', 'read', 'sudo', 'update']);
    expect(acl.check({ operation: 'read', path: 'a' })).toMatchObject({ allowed: true, sudo: true, grantingPolicies: ['p1', 'p3'] });
    expect(acl.check({ operation: 'update', path: 'a' }).grantingPolicies).toEqual(['p2']);
  });

  test('any deny for the same path wins, in any order', () => {
    for (const texts of [
      [block('a/*', 'deny'), block('a/*', 'read')],
      [block('a/*', 'read'), block('a/*', 'deny')],
      [block('a/*', 'read'), block('a/*', 'deny'), block('a/*', 'read', 'sudo')],
    ]) {
      const acl = aclOf(...texts);
      expect(acl.capabilities('a/b')).toEqual(['deny']);
      expect(acl.check({ operation: 'read', path: 'a/b' })).toMatchObject({ allowed: false, sudo: false });
    }
  });

  test('root is everything', () => {
    const acl = Acl.compile([parsePolicy('root', '')]);
    expect(acl.root).toBe(true);
    expect(acl.check({ operation: 'delete', path: 'sys/raw/x' })).toMatchObject({ allowed: true, sudo: true });
    expect(acl.capabilities('any')).toEqual(['root']);
    expect(acl.resultant()).toEqual({ root: true });
    expect(acl.reaches('any/')).toBe(true);
  });

  test('no policy allows nothing but help', () => {
    const acl = Acl.compile([]);
    expect(acl.capabilities('a')).toEqual(['deny']);
    expect(acl.check({ operation: 'help', path: 'a' }).allowed).toBe(true);
    expect(aclOf(block('*', 'create', 'read', 'sudo')).check({ operation: 'header', path: 'a' }).allowed).toBe(false);
  });
});

describe('parameters', () => {
  const writes = (
    text: string,
    data?: Record<string, unknown>,
    operation: 'create' | 'delete' | 'list' | 'patch' | 'read' | 'update' = 'update',
  ) => aclOf(...text.split('---')).check({ operation, path: 'a', data }).allowed;
  const all = 'capabilities = ["create", "read", "update", "patch", "delete", "list"]';

  test('with a list of allowed ones, every key sent must be in it with a value it names', () => {
    const text = `path "a" { ${all}\n allowed_parameters = { "Foo" = [], "bar" = ["x*", "*y", 5, true] } }`;
    expect(writes(text, {})).toBe(true);
    expect(writes(text)).toBe(true);
    expect(writes(text, { foo: 'any', FOO: { deep: 1 } })).toBe(true);
    for (const bar of ['xyz', 'zzy', 5, '5', true, 'true']) expect(writes(text, { bar })).toBe(true);
    for (const bar of ['ax', 6, false, null, ['x'], {}]) expect(writes(text, { bar })).toBe(false);
    expect(writes(text, { foo: 1, other: 1 })).toBe(false);
    for (const operation of ['create', 'read', 'update', 'patch'] as const) expect(writes(text, { other: 1 }, operation)).toBe(false);
    for (const operation of ['delete', 'list'] as const) expect(writes(text, { other: 1 }, operation)).toBe(true);
  });

  test('a star among the allowed ones opens the others', () => {
    const text = `path "a" { ${all}\n allowed_parameters = { "*" = [], "bar" = ["x"] } }`;
    expect(writes(text, { other: 1, bar: 'x' })).toBe(true);
    expect(writes(text, { bar: 'y' })).toBe(false);
  });

  test('denied ones win over allowed ones', () => {
    const text = `path "a" { ${all}\n allowed_parameters = { "*" = [] }\n denied_parameters = { "foo" = [], "bar" = ["x"] } }`;
    expect(writes(text, { other: 1, bar: 'y' })).toBe(true);
    expect(writes(text, { Foo: 1 })).toBe(false);
    expect(writes(text, { BAR: 'x' })).toBe(false);
    expect(writes(text, { bar: ['y', 'x'] })).toBe(false);
  });

  test('a star among the denied ones refuses whatever is sent', () => {
    const text = `path "a" { ${all}\n denied_parameters = { "*" = [] } }`;
    expect(writes(text, {})).toBe(true);
    expect(writes(text, { a: 1 })).toBe(false);
  });

  test('required ones must be sent', () => {
    const text = `path "a" { ${all}\n required_parameters = ["Foo", "bar"] }`;
    expect(writes(text, { foo: 1 })).toBe(false);
    expect(writes(text)).toBe(false);
    expect(writes(text, { FOO: 1, bar: 2 })).toBe(true);
    expect(writes(text, {}, 'delete')).toBe(true);
  });

  test('lists and objects match as a whole', () => {
    const text = `path "a" { ${all}\n allowed_parameters = { "bar" = [["x", "y"]] } }`;
    expect(writes(text, { bar: ['x', 'y'] })).toBe(true);
    expect(writes(text, { bar: ['x'] })).toBe(false);
  });

  test('those of several policies are joined, and no values means any value', () => {
    const one = `path "a" { ${all}\n allowed_parameters = { "foo" = ["x"], "bar" = ["x"] } }`;
    const two = `path "a" { ${all}\n allowed_parameters = { "foo" = ["y"], "bar" = [], "baz" = ["z"] } }`;
    for (const text of [`${one}---${two}`, `${two}---${one}`]) {
      expect(writes(text, { foo: 'x' })).toBe(true);
      expect(writes(text, { foo: 'y', bar: 'any', baz: 'z' })).toBe(true);
      expect(writes(text, { foo: 'z' })).toBe(false);
    }
  });
});

describe('wrapping limits', () => {
  const check = (text: string, wrapTtl?: number) => aclOf(...text.split('---')).check({ operation: 'read', path: 'a', wrapTtl }).allowed;

  test('the response must be wrapped within them', () => {
    const text = 'path "a" { capabilities = ["read"]\n min_wrapping_ttl = 10\n max_wrapping_ttl = 20 }';
    expect([undefined, 0, 9, 21].map((ttl) => check(text, ttl))).toEqual([false, false, false, false]);
    expect([10, 20].map((ttl) => check(text, ttl))).toEqual([true, true]);
  });

  test('of several policies the smallest limits count', () => {
    const text =
      'path "a" { capabilities = ["read"]\n max_wrapping_ttl = 20 }---path "a" { capabilities = ["list"]\n max_wrapping_ttl = 10 }---path "a" { capabilities = ["read"] }';
    expect([5, 10, 15].map((ttl) => check(text, ttl))).toEqual([true, true, false]);
  });
});

describe('what a mount listing shows', () => {
  test.each([
    ['secret/data/x', true],
    ['secret/*', true],
    ['sec*', true],
    ['*', true],
    ['secret', true],
    ['+/data/x', true],
    ['+/+/x*', true],
    ['se+/x', false],
    ['secrets/*', false],
    ['other/+', false],
    ['+', false],
    ['secre', false],
  ])('a rule for %s: %s', (path, reached) => {
    expect(aclOf(block(path, 'read')).reaches('secret/')).toBe(reached);
  });

  test('a mount below a mount is matched by its whole path', () => {
    expect(aclOf(block('auth/+/login', 'update')).reaches('auth/ldap/')).toBe(true);
    expect(aclOf(block('auth/+/login', 'update')).reaches('auth/corp/ldap/')).toBe(false);
    expect(aclOf(block('auth/+/l*', 'update')).reaches('auth/corp/ldap/')).toBe(true);
  });

  test('denies do not reach, and hide what ranks below them', () => {
    expect(aclOf(block('secret/*', 'deny')).reaches('secret/')).toBe(false);
    expect(aclOf(block('secret/*', 'deny') + block('*', 'read')).reaches('secret/')).toBe(false);
    expect(aclOf(block('secret/*', 'deny') + block('+/data/*', 'read')).reaches('secret/')).toBe(false);
    expect(aclOf(block('secret/*', 'deny') + block('secret/a', 'read')).reaches('secret/')).toBe(true);
  });
});

describe('what a user interface learns', () => {
  test('exact paths and globs with their capabilities and limits', () => {
    const text = `${block('a/b', 'read', 'list')}${block('c/*', 'deny')}${block('d/+/e*', 'sudo')}
      path "f" { capabilities = ["update"]\n max_wrapping_ttl = "1m"\n allowed_parameters = { x = ["y"] }\n required_parameters = ["x"] }`;
    expect(aclOf(text).resultant()).toEqual({
      root: false,
      exact_paths: {
        'a/b': { capabilities: ['list', 'read'] },
        f: { capabilities: ['update'], max_wrapping_ttl: 60, allowed_parameters: { x: ['y'] }, required_parameters: ['x'] },
      },
      glob_paths: { 'c/': { capabilities: ['deny'] }, 'd/+/e*': { capabilities: ['sudo'] } },
    });
  });
});

describe('an explanation', () => {
  test('names the rule that decided and the capability that it lacks', () => {
    const explained = aclOf(block('a/*', 'read')).explain('update', 'a/b');
    expect(explained).toMatchObject({
      allowed: false,
      missing: 'update',
      rule: { path: 'a/*', policies: ['p1'], capabilities: ['read'] },
      reason: 'path "a/*" of p1 grants read, not update',
      suggestion: 'path "a/*" {\n  capabilities = ["read", "update"]\n}',
    });
    expect(aclOf(block('a/*', 'read')).explain('read', 'a/b')).toMatchObject({ allowed: true, reason: 'path "a/*" of p1 grants read' });
  });

  test('names the nearest rule where none matches', () => {
    expect(aclOf(block('a/b/c', 'read') + block('x', 'read')).explain('read', 'a/b/d')).toMatchObject({
      reason: 'no rule matches "a/b/d"',
      nearest: { path: 'a/b/c' },
      missing: 'read',
      suggestion: 'path "a/b/d" {\n  capabilities = ["read"]\n}',
    });
  });

  test('names the parameter, never its value', () => {
    const text = 'path "a" { capabilities = ["update"]\n allowed_parameters = { x = ["y"] } }';
    const explained = aclOf(text).explain('update', 'a', { data: { x: 'hunter2' } });
    expect(explained.reason).toBe('path "a" of p1: parameter "x" has a value that is not allowed');
    expect(JSON.stringify(explained)).not.toContain('hunter2');
  });

  test('says what root and deny mean', () => {
    expect(Acl.compile([parsePolicy('root', '')]).explain('read', 'a').reason).toBe('the root policy allows everything');
    expect(aclOf(block('a', 'deny')).explain('read', 'a').reason).toBe('path "a" of p1 denies it');
  });
});

describe('paths that depend on the caller', () => {
  const text =
    block('home/{{identity.entity.name}}/*', 'read') + block('team/{{identity.entity.metadata.none}}', 'read') + block('open', 'read');

  test('are filled in for them, and left out where they cannot be', () => {
    const acl = Acl.compile([parsePolicy('p', text)], bob);
    expect(reads(acl, 'home/bob/x')).toBe(true);
    expect(reads(acl, 'home/eve/x')).toBe(false);
    expect(reads(acl, 'team/')).toBe(false);
    expect(reads(Acl.compile([parsePolicy('p', text)]), 'open')).toBe(true);
  });

  test('a value with a wildcard counts as one only where the policy allows it', () => {
    const wild = block('x/{{identity.entity.metadata.wild}}', 'read');
    expect(reads(Acl.compile([parsePolicy('p', wild)], bob), 'x/abc')).toBe(false);
    const allowed = Acl.compile([parsePolicy('p', wild, { allowWildcards: true, allowSlashes: false })], bob);
    expect(reads(allowed, 'x/abc')).toBe(true);
  });
});

describe('expiring blocks', () => {
  test('count until their time, and say when the answers change', () => {
    const text = `${block('a', 'read')}path "b" { capabilities = ["read"]\n expiration = "2030-01-01T00:00:10Z" }`;
    const end = Date.parse('2030-01-01T00:00:10Z');
    const before = Acl.compile([parsePolicy('p', text)], undefined, end - 1);
    expect([reads(before, 'b'), before.validUntil]).toEqual([true, end]);
    const after = Acl.compile([parsePolicy('p', text)], undefined, end);
    expect([reads(after, 'a'), reads(after, 'b'), after.validUntil]).toEqual([true, false, Number.POSITIVE_INFINITY]);
  });
});

describe('the default policy', () => {
  test('lets a token look after itself and nothing else', () => {
    const acl = Acl.compile([parsePolicy('default', DEFAULT_POLICY)], bob);
    const allowed: [Parameters<Acl['check']>[0]['operation'], string][] = [
      ['read', 'auth/token/lookup-self'],
      ['update', 'auth/token/renew-self'],
      ['update', 'auth/token/revoke-self'],
      ['update', 'sys/capabilities-self'],
      ['read', 'identity/entity/id/e-1'],
      ['read', 'identity/entity/name/bob'],
      ['read', 'sys/internal/ui/resultant-acl'],
      ['read', 'sys/internal/ui/search'],
      ['update', 'sys/leases/renew'],
      ['update', 'sys/leases/lookup'],
      ['create', 'cubbyhole/x'],
      ['list', 'cubbyhole/'],
      ['update', 'sys/wrapping/wrap'],
      ['update', 'sys/wrapping/lookup'],
      ['update', 'sys/wrapping/unwrap'],
      ['update', 'sys/tools/hash'],
      ['update', 'sys/tools/hash/sha2-256'],
      ['read', 'identity/oidc/provider/p/authorize'],
    ];
    for (const [operation, path] of allowed) expect([path, acl.check({ operation, path }).allowed]).toEqual([path, true]);
    for (const path of ['secret/data/x', 'sys/mounts', 'identity/entity/id/e-2', 'auth/token/lookup']) expect(reads(acl, path)).toBe(false);
  });
});
