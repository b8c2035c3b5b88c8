import { describe, expect, jest, test } from '@jest/globals';
import { connectionSecrets, secretFields, visibleConnection } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import { createTestCa } from '@strongroom/lab';
import { MongodbConnection, mongodbPlugin } from '../src/index.ts';
import { startWireServer } from './wire-server.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const quiet = () => undefined;
const host = { log: { debug: quiet, info: quiet, warn: quiet, error: quiet }, now: () => new Date() };
const ca = createTestCa();

test('username_template: names are 100 characters long at most', () => {
  const template = compileTemplate(mongodbPlugin.usernameTemplate, { fields: ['DisplayName', 'RoleName'] });
  const name = template.render(
    { DisplayName: 'me@example.org-and-more', RoleName: 'my.role' },
    { now: () => new Date(1_795_250_515_000), randomBytes: (n) => Buffer.alloc(n, 1) },
  );
  expect(name).toMatch(/^v-me@example-org--my-role-[A-Za-z0-9]{20}-1795250515$/);
  expect(MongodbConnection.properties.username_template).toBeDefined();
});

test('password, tls_certificate_key: are never shown, and connection_url only masked', () => {
  expect(secretFields(MongodbConnection)).toEqual(['password', 'tls_certificate_key']);
  const shown = visibleConnection(MongodbConnection, {
    connection_url: 'mongodb://me:hunter2@db:27017/',
    password: 'x',
    tls_certificate_key: 'y',
  });
  expect(shown).toEqual({ connection_url: 'mongodb://me:xxxxx@db:27017/' });
});

test('connection_url: secrets in its options are not shown either, and are redacted from errors', () => {
  const options = 'tls=true&tlsCertificateKeyFilePassword=hunter2&authMechanismProperties=AWS_SESSION_TOKEN:hunter3,SERVICE_NAME:x';
  const connection_url = `mongodb://{{username}}:{{password}}@db:27017/?${options}`;
  expect(visibleConnection(MongodbConnection, { connection_url })).toEqual({
    connection_url: connection_url.replace('hunter2', 'xxxxx').replace('hunter3', 'xxxxx'),
  });
  expect(Object.values(connectionSecrets(MongodbConnection, { connection_url }))).toEqual(['hunter2', 'hunter3']);
});

test.each<[string, Partial<MongodbConnection>, RegExp | string]>([
  ['connection_url: empty', { connection_url: '' }, /^connection_url cannot be empty$/],
  ['connection_url: of another scheme', { connection_url: 'postgresql://h' }, 'connection_url must begin with mongodb://'],
  ['connection_url: that the driver cannot read', { connection_url: 'mongodb://h/?nonsense=1' }, 'unable to parse connection url'],
  ['connection_url: with a file', { connection_url: 'mongodb://h/?tlsCAFile=/etc/passwd' }, 'must not name files (tlsCAFile)'],
  ['tls_ca', { tls_ca: 'nonsense' }, 'tls_ca is not usable PEM'],
  [
    'tls_ca: against connection_url',
    { connection_url: 'mongodb://h/?tls=false&ssl=true', tls_ca: ca.certificate },
    'unable to parse connection url',
  ],
  ['tls_certificate_key: without its key', { tls_certificate_key: ca.certificate }, 'tls_certificate_key is not usable PEM'],
  ['write_concern: no JSON', { write_concern: 'majority' }, 'write_concern must be a JSON object'],
  ['write_concern: an unknown key', { write_concern: '{ "ww": 1 }' }, 'write_concern has an unknown key "ww"'],
  ['write_concern: w', { write_concern: '{ "w": -1 }' }, 'write_concern needs a number or a name for w'],
  ['write_concern: wmode', { write_concern: '{ "wmode": 1 }' }, 'write_concern needs a name for wmode'],
  ['write_concern: wtimeout', { write_concern: '{ "wtimeout": "1s" }' }, 'write_concern needs milliseconds for wtimeout'],
  ['write_concern: j', { write_concern: '{ "j": 1 }' }, 'write_concern needs true or false for j'],
])('%s: what cannot work is refused before anything connects', async (_, change, message) => {
  const opening = mongodbPlugin.open({ connection_url: 'mongodb://h/', ...change }, host);
  await expect(opening).rejects.toThrow(message);
  await expect(opening).rejects.toMatchObject({ code: 'configuration_invalid' });
});

// FerretDB does not log in by certificate, so a recorder that demands one takes its place.
describe('tls_certificate_key where connection_url names no user', () => {
  test.each([
    ['without username', undefined],
    ['with username', 'CN=client'],
  ])('%s: logs in by MONGODB-X509 over a connection with that certificate', async (_, username) => {
    const { cert, key } = ca.issue('client');
    const own = ca.issue('mongodb', ['DNS:localhost']);
    const server = await startWireServer({ ...own, ca: ca.certificate, requestCert: true, rejectUnauthorized: true });
    const settings = { connection_url: `mongodb://localhost:${server.port}/?serverSelectionTimeoutMS=1000`, tls_ca: ca.certificate };
    try {
      const session = await mongodbPlugin.open({ ...settings, tls_certificate_key: cert + key, ...(username && { username }) }, host);
      await session.verify(AbortSignal.timeout(20_000));
      await session.close();
      expect(server.commands).toMatchObject([
        { authenticate: 1, mechanism: 'MONGODB-X509', $db: '$external', ...(username && { user: username }) },
        { ping: 1, $db: 'admin' },
      ]);
      const without = await mongodbPlugin.open(settings, host);
      await expect(without.verify(AbortSignal.timeout(20_000))).rejects.toThrow('error verifying connection');
      await without.close();
    } finally {
      await server.close();
    }
  });
});
