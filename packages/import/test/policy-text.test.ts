import { describe, expect, test } from '@jest/globals';
import { MountMap } from '../src/mount-map.ts';
import { rewritePolicy } from '../src/policy-text.ts';

const map = (...renames: [string, string][]): MountMap => {
  const made = new MountMap(renames);
  made.add(
    { path: 'auth/ldap/', to: 'auth/ldap/', type: 'ldap', targetType: 'ldap', accessor: 'auth_ldap_1', uuid: '', options: {} },
    'auth_ldap_2',
  );
  return made;
};
const rewritten = (text: string, ...renames: [string, string][]) => rewritePolicy(text, map(...renames)).policy;

describe('a policy', () => {
  test('is unchanged, byte for byte, where nothing in it is another thing here', () => {
    const text = '# secret/ is "secret/"\r\npath "secret/*" {\n\tcapabilities = ["read"] }\n\n';
    expect(rewritePolicy(text, map())).toEqual({ policy: text, diff: [] });
    expect(rewritten(text, ['other/', 'kv/'])).toBe(text);
  });

  test('gets the accessors of this server, and shows the lines that changed', () => {
    const text = 'path "a/{{identity.entity.aliases.auth_ldap_1.name}}" {\n  capabilities = ["read"]\n}';
    expect(rewritePolicy(text, map()).diff).toEqual([
      '- path "a/{{identity.entity.aliases.auth_ldap_1.name}}" {',
      '+ path "a/{{identity.entity.aliases.auth_ldap_2.name}}" {',
    ]);
  });

  test.each([
    ['path "secret/data/a" {', 'path "kv/data/a" {'],
    ['path "secret" {', 'path "kv" {'],
    ['path "sys/mounts/secret" {', 'path "sys/mounts/kv" {'],
    ['path "sys/mounts/secret/tune" {', 'path "sys/mounts/kv/tune" {'],
    ['path "sys/leases/revoke-prefix/secret/a" {', 'path "sys/leases/revoke-prefix/kv/a" {'],
    ['{"path":{"secret/a":{"capabilities":["read"]},"secret/b":{}}}', '{"path":{"kv/a":{"capabilities":["read"]},"kv/b":{}}}'],
    ['path "secrets/a" {', 'path "secrets/a" {'],
    ['path "other/secret/a" {', 'path "other/secret/a" {'],
    ['# path to secret/', '# path to secret/'],
    ['allowed_parameters = { "x" = ["secret/a"] }', 'allowed_parameters = { "x" = ["secret/a"] }'],
  ])('%s follows its mount', (before, after) => {
    expect(rewritten(before, ['secret/', 'kv/'])).toBe(after);
  });

  test('follows a login method', () => {
    expect(rewritten('path "auth/ldap/login/*" {', ['auth/ldap/', 'auth/corp/'])).toBe('path "auth/corp/login/*" {');
    expect(rewritten('path "sys/auth/ldap/tune" {', ['auth/ldap/', 'auth/corp/'])).toBe('path "sys/auth/corp/tune" {');
  });
});
