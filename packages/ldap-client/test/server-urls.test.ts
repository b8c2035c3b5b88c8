import { describe, expect, test } from '@jest/globals';
import {
  accountIdentity,
  canonicalServers,
  checkServerUrls,
  defaultDirectoryConfig,
  LdapEntry,
  secretMoves,
  serverUrls,
  type DirectoryConfig,
} from '../src/index.ts';

describe('a list of LDAP URLs', () => {
  test('is trimmed, and empty parts count for nothing', () => {
    expect(serverUrls(' ldap://a , ,ldaps://b,')).toEqual(['ldap://a', 'ldaps://b']);
    expect(checkServerUrls('ldap://a, ldap://b')).toBe('ldap://a,ldap://b');
    expect(checkServerUrls(' , ')).toBe('');
  });

  test.each(['http://x', 'x', 'ldap:/x', 'ldap://a b', 'ldap://a:x', 'ldap://a:99999', 'ldapi:///x'])('%s is refused by name', (url) => {
    expect(() => checkServerUrls(`ldap://a,${url}`)).toThrow(/^url: ".*" is not an LDAP URL; write ldap:/);
  });

  test('that is refused repeats no password', () => {
    expect(() => checkServerUrls('http://me:secret@x')).toThrow(/^url: a URL holds no name or password/);
  });

  test('has one variant for the same servers', () => {
    expect(canonicalServers(['LDAPS://B.example', 'ldap://a.example:389/', 'ldap://A.EXAMPLE'])).toBe(
      'ldap://a.example:389,ldaps://b.example:636',
    );
  });
});

describe('parameters that send the password of the service account elsewhere, or less safely', () => {
  const before: DirectoryConfig = {
    ...defaultDirectoryConfig,
    url: 'ldap://a,ldaps://b:636',
    starttls: true,
    tls_min_version: 'tls12',
    tls_max_version: 'tls13',
  };
  test.each<[Partial<DirectoryConfig>, string[]]>([
    [{}, []],
    [{ url: 'ldaps://B, ldap://a:389' }, []],
    [{ url: 'ldap://a' }, []],
    [{ url: 'ldap://a,ldaps://b,ldap://c' }, ['url']],
    [{ url: 'ldap://a,ldap://b' }, ['url']],
    [{ starttls: false }, ['starttls']],
    [{ url: 'ldaps://b', starttls: false }, ['starttls']],
    [{ insecure_tls: true }, ['insecure_tls']],
    [{ certificate: 'another' }, ['certificate']],
    [{ tls_min_version: 'tls10' }, ['tls_min_version']],
    [{ tls_min_version: 'tls13' }, []],
    [{ tls_max_version: 'tls12' }, ['tls_max_version']],
    [{ userdn: 'dc=x', request_timeout: 1 }, []],
  ])('%j: %j', (change, moved) => {
    expect(secretMoves(before, { ...before, ...change })).toEqual(moved);
  });

  test('a URL that an older release stored unchecked is another one only where it changes', () => {
    expect(secretMoves({ ...before, url: 'http://x' }, { ...before, url: 'http://x' })).toEqual([]);
    expect(secretMoves({ ...before, url: 'http://x' }, { ...before, url: 'ldap://x' })).toEqual(['url']);
  });
});

describe('an account in the registry of managed accounts', () => {
  const entry = (attributes: Record<string, Buffer>): LdapEntry =>
    new LdapEntry('UID=Ann, ou=People,dc=example', new Map(Object.entries(attributes).map(([name, value]) => [name, [value]])));

  test('goes by the identifier of its entry, whatever its name and whichever servers are asked', () => {
    const id = { entryuuid: Buffer.from('0A1B-2c') };
    expect(accountIdentity(entry(id), ['ldap://a'])).toEqual({ system: 'ldap:entryUUID', name: '0a1b-2c' });
    expect(accountIdentity(entry(id), ['ldaps://b'])).toEqual(accountIdentity(entry(id), ['ldap://a']));
    expect(accountIdentity(entry({ objectGUID: Buffer.from([1, 255]) }), [])).toEqual({ system: 'ldap:objectGUID', name: '01ff' });
  });

  test('goes by its name at the servers where the directory shows no identifier', () => {
    expect(accountIdentity(entry({}), ['ldap://B', 'LDAP://a:389'])).toEqual({
      system: 'ldap://a:389,ldap://b:389',
      name: 'uid=ann,ou=people,dc=example',
    });
  });
});
