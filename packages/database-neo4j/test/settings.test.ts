import { describe, expect, test } from '@jest/globals';
import { loggingHost } from '@strongroom/database-testkit';
import { createTestCa } from '@strongroom/lab';
import { type Neo4jConnection, neo4jPlugin } from '../src/index.ts';

const host = loggingHost();
const login = { username: 'neo4j', password: 'some-password' };
const ca = createTestCa().certificate;

describe('settings that cannot work are refused before anything connects', () => {
  test.each<[string, Partial<Neo4jConnection>, string]>([
    ['connection_url: empty', { connection_url: '' }, 'connection_url cannot be empty'],
    ['connection_url: no URL', { connection_url: 'graph.example' }, 'connection_url must be like neo4j+s://graph.example:7687'],
    ['connection_url: of HTTP', { connection_url: 'https://graph.example' }, 'connection_url must be like neo4j+s://graph.example:7687'],
    [
      'connection_url: with any certificate',
      { connection_url: 'neo4j+ssc://graph.example' },
      'neo4j+ssc accepts any certificate: use neo4j+s with tls_ca',
    ],
    ['connection_url: with a password', { connection_url: 'bolt://a:b@graph.example' }, 'must not contain a user or a password'],
    ['connection_url: with a database', { connection_url: 'bolt://graph.example/movies' }, 'must not contain a path'],
    ['connection_url: bolt with a query', { connection_url: 'bolt://graph.example?a=b' }, 'only neo4j:// takes a query'],
    ['username: empty', { username: '' }, 'username cannot be empty'],
    ['password: empty', { password: '' }, 'password cannot be empty'],
    [
      'tls_ca: without TLS',
      { connection_url: 'bolt://graph.example', tls_ca: ca },
      'tls_ca means nothing with a connection_url of bolt://: use bolt+s://',
    ],
    ['tls_ca: a path', { tls_ca: '/etc/ca.pem' }, 'tls_ca must be PEM, not the path of a file'],
    ['tls_ca: nonsense', { tls_ca: '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----' }, 'tls_ca is not usable PEM'],
  ])('%s', async (_, change, message) => {
    const opening = neo4jPlugin.open({ connection_url: 'neo4j+s://graph.example:7687', ...login, ...change }, host);
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toMatchObject({ code: 'configuration_invalid' });
  });
});

test('the identity is the server, whatever scheme leads to it', () => {
  const identity = (connection_url: string): unknown => neo4jPlugin.identify!({ connection_url, ...login });
  expect(identity('bolt://Graph.example')).toEqual({ system: 'neo4j://graph.example:7687', username: 'neo4j' });
  expect(identity('neo4j+s://graph.example:7687?region=eu')).toEqual(identity('bolt://Graph.example'));
  expect(identity('bolt://[::1]:9687')).toEqual({ system: 'neo4j://localhost:9687', username: 'neo4j' });
});
