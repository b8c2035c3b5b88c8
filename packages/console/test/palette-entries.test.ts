import { describe, expect, test } from '@jest/globals';
import { entryOf, matching, mountEntry, ranked, type Hit } from '../web/app/palette-entries.ts';

const hit = (mount: string, type: string, list: string, name: string): Hit => ({ mount, type, list, name });

describe('a found name', () => {
  test.each([
    [hit('team/kv/', 'kv', 'metadata/', 'shop/a b'), '/kv/team%2Fkv/show/shop/a%20b', 'secret'],
    [hit('old/', 'kv', '', 'shop/'), '/kv/old/list/shop', 'folder'],
    [hit('db/', 'database', 'roles/', 'reader'), '/database/db/roles/reader', 'role'],
    [hit('ldap/', 'ldap', 'library/', 'batch'), '/ldap/ldap/library/batch', 'library set'],
    [hit('sys/', 'system', 'policies/acl/', 'shop'), '/access/policies/shop', 'policy'],
    [hit('sys/', 'system', 'quotas/rate-limit/', 'all'), '/api/sys/quotas/rate-limit/all', 'quotas/rate-limit'],
    [hit('auth/token/', 'token', 'roles/', 'deploy'), '/access/token-roles/deploy', 'token role'],
    [hit('auth/corp/', 'ldap', 'groups/', 'dev/ops'), '/auth/corp/groups/dev/ops', 'group'],
    [hit('doors/', 'door', 'roles/', 'front'), '/engine/doors/roles/front', 'role'],
  ])('%j leads to %s', (found, url, kind) => {
    expect(entryOf(found)).toMatchObject({ url, kind });
  });

  test('that is the word itself comes first, then those that begin with it, short ones before long ones', () => {
    const names = ['shop/eu/database-old', 'shop/my-database', 'shop/eu/database', 'shop/database'];
    const found = ranked(
      names.map((name) => hit('secret/', 'kv', 'metadata/', name)),
      'shop Database',
    );
    expect(found.map(({ label }) => label)).toEqual([
      'secret/shop/database',
      'secret/shop/eu/database',
      'secret/shop/eu/database-old',
      'secret/shop/my-database',
    ]);
  });
});

test('pages and mounts are found by all words, those that begin with the first before the others', () => {
  const known = [mountEntry('my-db/', 'database'), mountEntry('db/', 'database'), mountEntry('doors/', 'door')];
  expect(matching(known, 'db').map(({ url }) => url)).toEqual(['/database/db', '/database/my-db']);
  expect(matching(known, 'door mount').map(({ url }) => url)).toEqual(['/engine/doors']);
});
