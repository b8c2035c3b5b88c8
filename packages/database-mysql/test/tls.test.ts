import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { DatabaseHost } from '@strongroom/database-sdk';
import { databasePluginContract } from '@strongroom/database-testkit';
import { createTestCa, startMariadb, type TestCa, type TestCertificate } from '@strongroom/lab';
import { type MysqlConnection, mysqlPlugin } from '../src/index.ts';
import { describeOnServers, type TestedServer } from './servers.ts';

const quiet = () => undefined;
const host: DatabaseHost = { log: { debug: quiet, info: quiet, warn: quiet, error: quiet }, now: () => new Date() };
const signal = () => AbortSignal.timeout(30_000);

/** Some tests start a server of their own. */
jest.setTimeout(30_000);

describeOnServers('TLS', ({ isMariadb, start }) => {
  let server: TestedServer;
  let ca: TestCa;
  let other: TestCa;
  beforeAll(async () => {
    ca = createTestCa();
    other = createTestCa();
    const { cert, key } = ca.issue('db', ['DNS:localhost', 'DNS:db.example', 'IP:127.0.0.1']);
    server = await start({ tls: { ca: ca.certificate, cert, key } });
    await server.query('CREATE DATABASE app');
  }, 60_000);
  afterAll(() => server?.stop());

  const settings = (change: Partial<MysqlConnection> = {}, address = server.host, parameters = ''): MysqlConnection => ({
    connection_url: `{{username}}:{{password}}@tcp(${address}:${server.port})/${parameters}`,
    username: server.superuser,
    password: server.password,
    ...change,
  });
  /** The cipher of the session, or the reason why there is none. */
  const cipher = async (config: MysqlConnection): Promise<string> => {
    const session = await mysqlPlugin.open(config, host);
    try {
      await session.verify(signal());
      await session.createUser({
        username: 'x',
        credential: { type: 'password', password: 'x' },
        expiresAt: new Date(),
        statements: {
          commands: [
            'DROP TABLE IF EXISTS app.seen',
            `CREATE TABLE app.seen AS SELECT VARIABLE_VALUE AS cipher FROM ${isMariadb ? 'information_schema.SESSION_STATUS' : 'performance_schema.session_status'} WHERE VARIABLE_NAME = 'SSL_CIPHER'`,
          ],
        },
        rollback: { commands: [] },
        signal: signal(),
      });
      return String((await server.query('SELECT cipher FROM app.seen'))[0]!['cipher']);
    } catch (error) {
      return (error as Error).message;
    } finally {
      await session.close();
    }
  };
  const ENCRYPTED = /^TLS_|^ECDHE/;

  test('is used wherever the server offers it, unless tls=false', async () => {
    expect(await cipher(settings())).toMatch(ENCRYPTED);
    expect(await cipher(settings({}, server.host, '?tls=preferred'))).toMatch(ENCRYPTED);
    expect(await cipher(settings({}, server.host, '?tls=skip-verify'))).toMatch(ENCRYPTED);
    expect(await cipher(settings({}, server.host, '?tls=false'))).toBe('');
    expect(await cipher(settings({ connection_url: `mysql://{{username}}:{{password}}@localhost:${server.port}/` }))).toMatch(ENCRYPTED);
  });

  test('tls_ca: the server must be signed by it, and be the one meant, by name or by address', async () => {
    const tls_ca = ca.certificate;
    expect(await cipher(settings({ tls_ca }))).toMatch(ENCRYPTED);
    expect(await cipher(settings({ tls_ca }, 'localhost', '?tls=custom'))).toMatch(ENCRYPTED);
    expect(await cipher(settings({ tls_ca: other.certificate }))).toMatch(/certificate/);
    expect(await cipher(settings({}, 'localhost', '?tls=true'))).toMatch(/certificate/);
    const elsewhere = ca.issue('elsewhere', ['DNS:elsewhere.example', 'IP:127.0.0.2']);
    const second = await start({ tls: { ca: ca.certificate, cert: elsewhere.cert, key: elsewhere.key } });
    try {
      for (const address of ['localhost', '127.0.0.1']) {
        const connection_url = `{{username}}:{{password}}@tcp(${address}:${second.port})/`;
        expect(await cipher(settings({ connection_url, tls_ca }))).toMatch(/does not match certificate's altnames/);
      }
    } finally {
      await second.stop();
    }
  });

  test('tls_server_name is the name in place of the host', async () => {
    const tls_ca = ca.certificate;
    expect(await cipher(settings({ tls_ca, tls_server_name: 'db.example' }))).toMatch(ENCRYPTED);
    expect(await cipher(settings({ tls_ca, tls_server_name: 'other.example' }))).toMatch(/does not match certificate's altnames/);
  });

  test('tls_skip_verify encrypts without looking', async () => {
    expect(await cipher(settings({ tls_ca: other.certificate, tls_skip_verify: true }))).toMatch(ENCRYPTED);
  });

  test('tls_certificate_key logs the managing user in', async () => {
    await server.query(`CREATE USER certified REQUIRE SUBJECT '/CN=manager'`);
    await server.query('GRANT ALL PRIVILEGES ON *.* TO certified');
    const both = ({ cert, key }: TestCertificate) => `${cert}\n${key}`;
    const login = { username: 'certified', password: '', tls_ca: ca.certificate };
    expect(await cipher(settings({ ...login, tls_certificate_key: both(ca.issue('manager')) }))).toMatch(ENCRYPTED);
    expect(await cipher(settings({ ...login, tls_certificate_key: both(ca.issue('somebody')) }))).toMatch(/Access denied/);
    expect(await cipher(settings(login))).toMatch(/Access denied/);
  });

  const ifPlain = isMariadb ? test : test.skip;
  const whyNot = isMariadb ? '' : ' (skipped: MySQL makes a certificate for itself)';
  ifPlain(`a server without TLS is spoken to in clear by default, and refused where TLS is asked for${whyNot}`, async () => {
    const plain = await startMariadb();
    try {
      const verify = async (parameters: string, change: Partial<MysqlConnection> = {}) => {
        const connection_url = `{{username}}:{{password}}@tcp(${plain.host}:${plain.port})/${parameters}`;
        const session = await mysqlPlugin.open(settings({ connection_url, ...change }), host);
        try {
          await session.verify(signal());
        } finally {
          await session.close();
        }
      };
      await verify('');
      await expect(verify('?tls=skip-verify')).rejects.toThrow('does not support secure connection');
      await expect(verify('?tls=true')).rejects.toThrow('does not support secure connection');
      await expect(verify('', { tls_ca: ca.certificate })).rejects.toThrow('does not support secure connection');
    } finally {
      await plain.stop();
    }
  });

  test('settings that cannot work are refused before anything connects', async () => {
    const open = (change: Partial<MysqlConnection>, parameters = '') => mysqlPlugin.open(settings(change, 'h', parameters), host);
    const { cert, key } = ca.issue('a');
    await expect(open({}, '?tls=custom')).rejects.toThrow('tls must be');
    await expect(open({ tls_ca: ca.certificate }, '?tls=false')).rejects.toThrow('tls=false contradicts');
    await expect(open({ tls_ca: 'nonsense' })).rejects.toThrow('tls_ca');
    await expect(open({ tls_ca: '-----BEGIN CERTIFICATE-----\nnonsense' })).rejects.toThrow('tls_ca');
    await expect(open({ tls_certificate_key: cert })).rejects.toThrow('tls_certificate_key must hold');
    await expect(open({ tls_certificate_key: `${cert}${ca.issue('b').key}` })).rejects.toThrow('belongs to another certificate');
    await expect(open({ tls_certificate_key: `${cert}${key}` })).resolves.toBeDefined();
  });

  describe('credentials of type client_certificate', () => {
    databasePluginContract(
      { describe, test },
      {
        plugin: mysqlPlugin,
        config: () => settings({ tls_ca: ca.certificate }),
        creation: [`CREATE USER '{{name}}'@'%' REQUIRE SUBJECT '{{subject}}';`, `GRANT SELECT ON app.* TO '{{name}}'@'%';`],
        slow: [`CREATE USER '{{name}}'@'%' REQUIRE SUBJECT '{{subject}}'; SELECT SLEEP(40)`],
        restart: () => server.restart(),
        credential: async (username) => {
          const commonName = `${username.slice(0, 20)}-${Math.random().toString(36).slice(2)}`.replace(/[^\w-]/g, '-');
          const { cert, key } = ca.issue(commonName);
          return { credential: { type: 'client_certificate', subject: `CN=${commonName}` }, secret: `${cert}\n${key}` };
        },
        login: (username, secret) => server.login(username, '', { ca: ca.certificate, cert: secret, key: secret }),
      },
    );
  });
});
