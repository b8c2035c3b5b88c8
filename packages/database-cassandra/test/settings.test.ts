import { expect, test } from '@jest/globals';
import { secretFields } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { createTestCa } from '@strongroom/lab';
import { CassandraConnection, cassandraPlugin } from '../src/index.ts';
import { cassandraSettings } from '../src/settings.ts';

const quiet = () => undefined;
const host = { log: { debug: quiet, info: quiet, warn: quiet, error: quiet }, now: () => new Date() };
const login = { username: 'root', password: 'some-password' };
const ca = createTestCa();
const { cert, key } = ca.issue('client');

test('username_template: names are lower-cased and 100 characters long at most', () => {
  const template = compileTemplate(cassandraPlugin.usernameTemplate, { fields: ['DisplayName', 'RoleName'] });
  const name = template.render(
    { DisplayName: 'Token'.repeat(9), RoleName: 'My-Role' },
    { now: () => new Date(1_795_250_515_000), randomBytes: (n) => Buffer.alloc(n, 1) },
  );
  expect(name).toMatch(/^v_tokentokentoken_my_role_[a-z0-9]{20}_1795250515$/);
  expect(CassandraConnection.properties.username_template).toBeDefined();
});

test('password, pem_bundle, pem_json: are never shown', () => {
  expect(secretFields(CassandraConnection)).toEqual(['password', 'pem_bundle', 'pem_json']);
});

test('hosts: names and addresses of both kinds, with the port of their own or the common one', () => {
  const points = (hosts: string, port?: number) => cassandraSettings({ hosts, ...login, ...(port && { port }) }).contactPoints;
  expect(points('a.example, 10.0.0.1:9142,[::1],[fe80::2]:9143,2001:db8::1')).toEqual([
    'a.example:9042',
    '10.0.0.1:9142',
    '[::1]:9042',
    '[fe80::2]:9143',
    '[2001:db8::1]:9042',
  ]);
  expect(points('a', 9999)).toEqual(['a:9999']);
});

test('consistency: the names of all levels, in any case', () => {
  const level = (consistency: string) => cassandraSettings({ hosts: 'h', ...login, consistency }).consistency;
  expect(['ANY', 'one', 'TWO', 'THREE', 'QUORUM', 'ALL', 'LOCAL_QUORUM', 'each_quorum', 'LOCAL_ONE'].map(level)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 10,
  ]);
});

test.each<[string, Partial<CassandraConnection>, RegExp | string]>([
  ['hosts: empty', { hosts: '' }, /^hosts cannot be empty$/],
  ['hosts: nothing but commas', { hosts: ' , ' }, /^hosts cannot be empty$/],
  ['hosts: a URL', { hosts: 'cassandra://h' }, 'hosts must be names or addresses'],
  ['hosts: a port that is none', { hosts: 'h:99999' }, 'hosts must be names or addresses'],
  ['username', { username: '' }, /^username cannot be empty$/],
  ['password', { password: '' }, /^password cannot be empty$/],
  ['tls_min_version', { tls_min_version: 'ssl3' }, 'tls_min_version must be one of tls10, tls11, tls12, tls13'],
  ['connect_timeout', { connect_timeout: 'soon' }, 'connect_timeout must be a duration'],
  ['socket_keep_alive', { socket_keep_alive: -1 }, 'socket_keep_alive must be a duration'],
  ['consistency', { consistency: 'SERIAL' }, 'consistency must be one of ANY, ONE'],
  ['pem_bundle and pem_json', { pem_bundle: cert, pem_json: '{}' }, 'cannot specify both pem_json and pem_bundle'],
  ['pem_bundle without certificate', { pem_bundle: key }, 'pem_bundle holds no PEM certificate'],
  ['pem_bundle with a key of somebody else', { pem_bundle: cert + ca.issue('other').key }, 'belongs to none of its certificates'],
  ['pem_json', { pem_json: 'nonsense' }, 'pem_json must be a JSON object'],
])('%s: what cannot work is refused before anything connects', async (_, change, message) => {
  const opening = cassandraPlugin.open({ hosts: 'h', ...login, ...change }, host);
  await expect(opening).rejects.toThrow(message);
  await expect(opening).rejects.toMatchObject({ code: 'configuration_invalid' });
});
