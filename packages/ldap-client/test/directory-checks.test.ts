import { describe, expect, test } from '@jest/globals';
import {
  defaultDirectoryConfig,
  keptSecrets,
  mergeDirectoryConfig,
  requirePasswordFor,
  secretMoves,
  storedProblems,
} from '../src/index.ts';

const stored = { ...defaultDirectoryConfig, url: 'ldaps://a,ldaps://b', bindpass: 'secret' };

describe('settings of a directory that an earlier version stored', () => {
  const broken = { ...stored, url: 'http://x', userfilter: '((', userdn: 'garbage', upndomain: '@corp' };

  test('are listed, each with its name, except what a write has sent and checked', () => {
    const problems = (...sent: string[]) => storedProblems(broken, new Set(sent)).map((problem) => /^(?:invalid )?(\w+)/.exec(problem)![1]);
    expect(problems()).toEqual(['url', 'userdn', 'userfilter', 'upndomain']);
    expect(problems('url', 'userfilter')).toEqual(['userdn', 'upndomain']);
    expect(storedProblems(stored, new Set())).toEqual([]);
  });

  test('do not keep others from being corrected one by one', () => {
    const once = mergeDirectoryConfig(broken, { url: 'ldaps://c' }, new Set(['url']));
    expect(once).toMatchObject({ url: 'ldaps://c', userdn: 'garbage' });
    expect(() => mergeDirectoryConfig(once, { groupdn: 'garbage' }, new Set(['groupdn']))).toThrow(
      'groupdn: "garbage" is not a distinguished name',
    );
  });
});

test('templates with conditions, and names that Active Directory takes for bases, are fine', () => {
  const sent = {
    userfilter: '(&({{.UserAttr}}={{.Username}}){{if .Username}}(objectClass=person){{end}})',
    groupfilter: '(&(objectClass=group)(member:1.2.840.113556.1.4.1941:={{.UserDN}}))',
    groupdn: '<WKGUID=a9d1ca15768811d1aded00c04fd8d5cd,dc=corp,dc=example>',
    userdn: '',
  };
  expect(mergeDirectoryConfig(stored, sent, new Set(Object.keys(sent)))).toMatchObject(sent);
});

test('secrets move with another server or less safety, and with nothing else', () => {
  const moved = (change: Partial<typeof stored>) => secretMoves(stored, { ...stored, ...change });
  expect(moved({ url: 'ldaps://b', userdn: 'dc=x', starttls: true, tls_min_version: 'tls13', tls_max_version: 'tls13' })).toEqual([]);
  expect(moved({ url: 'ldaps://c,ldaps://a', insecure_tls: true, certificate: 'pem', tls_min_version: 'tls10' })).toEqual([
    ...['url', 'insecure_tls', 'certificate', 'tls_min_version'],
  ]);
  expect(keptSecrets({ ...stored, client_tls_key: 'key' }, new Set(['bindpass']))).toEqual(['client_tls_key']);
});

test('what is tried without being stored gets no stored secret for another server', () => {
  const tried = (sent: Partial<typeof stored>) => () => requirePasswordFor(stored, sent, new Set(Object.keys(sent)));
  expect(tried({ url: 'ldaps://c' })).toThrow('bindpass must be sent with another url');
  expect(tried({ insecure_tls: true })).toThrow('bindpass must be sent with another insecure_tls');
  expect(tried({ url: 'ldaps://c', bindpass: 'known' })).not.toThrow();
  expect(tried({ url: 'ldaps://b', userdn: 'dc=x' })).not.toThrow();
});
