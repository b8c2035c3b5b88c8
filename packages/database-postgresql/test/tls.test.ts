import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DatabaseHost } from '@strongroom/database-sdk';
import { type PostgresqlConnection, postgresqlPlugin } from '../src/index.ts';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';

const run = promisify(execFile);
const quiet = () => undefined;
const host: DatabaseHost = { log: { debug: quiet, info: quiet, warn: quiet, error: quiet }, now: () => new Date() };

const openssl = await run('openssl', ['version']).then(
  () => true,
  () => false,
);
const available = openssl && (await findPostgres()) !== undefined;
if (!available) console.warn('SKIPPED: TLS to PostgreSQL needs a server and the openssl command');

(available ? describe : describe.skip)('TLS to PostgreSQL', () => {
  let server: PostgresServer;
  let folder: string;
  const pem = (name: string) => readFile(join(folder, name), 'utf8');
  let material: Record<'ca' | 'otherCa' | 'clientCertificate' | 'clientKey', string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-tls-'));
    const authority = (name: string) =>
      run(
        'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:P-256',
          '-nodes',
          '-days',
          '2',
          '-subj',
          `/CN=${name}`,
          '-keyout',
          `${name}.key`,
          '-out',
          `${name}.crt`,
        ],
        { cwd: folder },
      );
    const leaf = async (name: string, subject: string, names: string) => {
      await writeFile(join(folder, `${name}.ext`), names);
      await run(
        'openssl',
        [
          'req',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:P-256',
          '-nodes',
          '-subj',
          `/CN=${subject}`,
          '-keyout',
          `${name}.key`,
          '-out',
          `${name}.csr`,
        ],
        { cwd: folder },
      );
      await run(
        'openssl',
        [
          'x509',
          '-req',
          '-in',
          `${name}.csr`,
          '-CA',
          'ca.crt',
          '-CAkey',
          'ca.key',
          '-CAcreateserial',
          '-days',
          '2',
          '-extfile',
          `${name}.ext`,
          '-out',
          `${name}.crt`,
        ],
        { cwd: folder },
      );
    };
    await authority('ca');
    await authority('other');
    await leaf('server', 'db.test', 'subjectAltName=DNS:localhost\n');
    await leaf('client', 'postgres', 'extendedKeyUsage=clientAuth\n');
    material = {
      ca: await pem('ca.crt'),
      otherCa: await pem('other.crt'),
      clientCertificate: await pem('client.crt'),
      clientKey: await pem('client.key'),
    };
    server = await startPostgres({
      settings: ['ssl=on', 'ssl_cert_file=server.crt', 'ssl_key_file=server.key', 'ssl_ca_file=ca.crt'],
      files: { 'server.crt': await pem('server.crt'), 'server.key': await pem('server.key'), 'ca.crt': material.ca },
      hba: [
        'hostssl template1 all 127.0.0.1/32 cert',
        'hostssl all all 127.0.0.1/32 scram-sha-256',
        'hostnossl postgres all 127.0.0.1/32 scram-sha-256',
      ],
    });
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const verify = async (address: string, query: string, change: Partial<PostgresqlConnection> = {}, database = 'postgres') => {
    const connection_url = `postgresql://{{username}}:{{password}}@${address}:${server.port}/${database}?${query}`;
    const session = await postgresqlPlugin.open({ connection_url, username: server.superuser, password: server.password, ...change }, host);
    try {
      await session.verify(AbortSignal.timeout(20_000));
      return await server.query<{ ssl: boolean }>(
        `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'strongroom' AND pid <> pg_backend_pid()`,
      );
    } finally {
      await session.close();
    }
  };

  test('connection_url: sslmode prefer and require encrypt, disable does not', async () => {
    expect(await verify('127.0.0.1', '')).toEqual([{ ssl: true }]);
    expect(await verify('127.0.0.1', 'sslmode=require')).toEqual([{ ssl: true }]);
    expect(await verify('127.0.0.1', 'sslmode=disable')).toEqual([{ ssl: false }]);
  });

  test('allow encrypts only where the server insists', async () => {
    expect(await verify('127.0.0.1', 'sslmode=allow')).toEqual([{ ssl: false }]);
    await server.query('CREATE DATABASE secured');
    expect(await verify('127.0.0.1', 'sslmode=allow', {}, 'secured')).toEqual([{ ssl: true }]);
  });

  test('tls_ca: sslmode verify-ca wants the right authority, verify-full the right name too', async () => {
    expect(await verify('127.0.0.1', 'sslmode=verify-ca', { tls_ca: material.ca })).toEqual([{ ssl: true }]);
    expect(await verify('localhost', 'sslmode=verify-full', { tls_ca: material.ca })).toEqual([{ ssl: true }]);
    expect(await verify('localhost', '', { tls_ca: material.ca })).toEqual([{ ssl: true }]);
    await expect(verify('127.0.0.1', 'sslmode=verify-full', { tls_ca: material.ca })).rejects.toThrow(
      /error verifying connection: .*(IP|altnames|cert)/,
    );
    await expect(verify('localhost', 'sslmode=verify-full', { tls_ca: material.otherCa })).rejects.toThrow(/certificate/);
    await expect(verify('localhost', 'sslmode=verify-ca')).rejects.toThrow(/certificate/);
    await expect(verify('127.0.0.1', 'sslmode=require', { tls_ca: material.otherCa })).rejects.toThrow(/certificate/);
  });

  test('tls_certificate, private_key: a client certificate logs in', async () => {
    const own = { tls_certificate: material.clientCertificate, private_key: material.clientKey };
    expect(await verify('127.0.0.1', 'sslmode=verify-ca', { tls_ca: material.ca, ...own, password: '' }, 'template1')).toEqual([
      { ssl: true },
    ]);
    await expect(verify('127.0.0.1', 'sslmode=require', {}, 'template1')).rejects.toThrow('error verifying connection');
  });

  test('a server without TLS is spoken to in plain text with prefer, and refused with require', async () => {
    const plain = await startPostgres();
    try {
      const open = (mode: string) =>
        postgresqlPlugin.open(
          {
            connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${plain.port}/postgres?sslmode=${mode}`,
            username: plain.superuser,
            password: plain.password,
          },
          host,
        );
      const prefer = await open('prefer');
      await prefer.verify(AbortSignal.timeout(20_000));
      await prefer.close();
      const require = await open('require');
      await expect(require.verify(AbortSignal.timeout(20_000))).rejects.toThrow('does not support SSL');
      await require.close();
    } finally {
      await plain.stop();
    }
  });
});
