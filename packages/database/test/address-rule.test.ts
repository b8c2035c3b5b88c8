import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import type { Plugin } from '@strongroom/engine-sdk';
import { cassandraPlugin } from '@strongroom/database-cassandra';
import { influxdbPlugin } from '@strongroom/database-influxdb';
import { mongodbPlugin } from '@strongroom/database-mongodb';
import { mssqlPlugin } from '@strongroom/database-mssql';
import { mysqlPlugin } from '@strongroom/database-mysql';
import { neo4jPlugin } from '@strongroom/database-neo4j';
import { opensearchPlugin } from '@strongroom/database-opensearch';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { redisPlugin } from '@strongroom/database-redis';
import { Type } from 'typebox';
import { databaseEngine } from '../src/index.ts';
import { faultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const POLICY = 'path "database/config/*" { capabilities = ["create", "update"] }';

describe('a stored password is sent to no address that was written without it', () => {
  const text = Type.Optional(Type.String());
  const third = {
    ...faultyDatabase('third-database-plugin').plugin,
    connection: Type.Object({
      gateway: text,
      colour: Type.Optional(Type.String({ address: false })),
      strict: Type.Optional(Type.Boolean({ default: false, safe: true })),
      pin: Type.Optional(Type.String({ secret: true })),
    }),
  };
  let mount: TestMount;
  let token: string;
  const write = async (name: string, data: Record<string, unknown>, as = token) => {
    const { status, errors } = await mount.call('update', `database/config/${name}`, { data, token: as });
    return [status, ...(errors ?? [])].join();
  };
  const SQL = { connection_url: 'x://{{username}}:{{password}}@db-1/app', username: 'root', password: 'geheim' };
  const settings: Record<string, readonly [plugin: Plugin, details: Record<string, unknown>]> = {
    pg: [postgresqlPlugin, { ...SQL, connection_url: 'postgresql://{{username}}:{{password}}@db-1/app' }],
    my: [mysqlPlugin, { ...SQL, connection_url: '{{username}}:{{password}}@tcp(db-1:3306)/' }],
    ms: [mssqlPlugin, { ...SQL, connection_url: 'sqlserver://{{username}}:{{password}}@db-1' }],
    mongo: [mongodbPlugin, { ...SQL, connection_url: 'mongodb://{{username}}:{{password}}@db-1/admin' }],
    redis: [redisPlugin, { host: 'db-1', username: 'root', password: 'geheim', tls: true }],
    cas: [cassandraPlugin, { hosts: 'db-1', username: 'root', password: 'geheim' }],
    flux: [influxdbPlugin, { host: 'db-1', username: 'root', password: 'geheim' }],
    graph: [neo4jPlugin, { connection_url: 'neo4j+s://db-1:7687', username: 'root', password: 'geheim' }],
    search: [opensearchPlugin, { url: 'https://db-1:9200', username: 'root', password: 'geheim' }],
    third: [third, { gateway: 'g1', pin: 'geheim', colour: 'red' }],
  };
  beforeEach(async () => {
    mount = await mountForTest(databaseEngine, { plugins: Object.values(settings).map(([plugin]) => plugin) });
    await mount.call('update', 'sys/policies/acl/writer', { data: { policy: POLICY } });
    await mount.call('update', 'sys/policies/acl/chief', { data: { policy: POLICY.replace('"update"', '"update", "sudo"') } });
    token = (await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } })).auth!.client_token;
    for (const [name, [plugin, details]] of Object.entries(settings)) {
      expect(await write(name, { plugin_name: plugin.name, verify_connection: false, ...details })).toMatch(/^20[04]$/);
    }
  });
  afterEach(async () => mount.close());

  test.each([
    ['pg', { connection_url: 'postgresql://{{username}}:{{password}}@evil/app' }],
    ['pg', { connection_url: 'postgresql://{{username}}:{{password}}@db-1/app?sslmode=disable' }],
    ['pg', { tls_ca: '-----BEGIN CERTIFICATE-----' }],
    ['pg', { disable_escaping: true }],
    ['pg', { username: 'x@evil/' }],
    ['my', { connection_url: '{{username}}:{{password}}@tcp(evil:3306)/' }],
    ['my', { tls_skip_verify: true }],
    ['my', { tls_server_name: 'evil' }],
    ['ms', { connection_url: 'sqlserver://{{username}}:{{password}}@evil' }],
    ['mongo', { connection_url: 'mongodb://{{username}}:{{password}}@evil/admin' }],
    ['redis', { host: 'evil' }],
    ['redis', { port: 6380 }],
    ['redis', { tls: false }],
    ['redis', { tls: null }],
    ['redis', { insecure_tls: true }],
    ['cas', { hosts: 'db-1,evil' }],
    ['cas', { pem_bundle: '-----BEGIN CERTIFICATE-----' }],
    ['flux', { host: 'evil' }],
    ['flux', { insecure_tls: 'true' }],
    ['graph', { connection_url: 'neo4j+s://evil:7687' }],
    ['graph', { connection_url: 'neo4j://db-1:7687' }],
    ['graph', { tls_ca: '-----BEGIN CERTIFICATE-----' }],
    ['search', { url: 'https://evil:9200' }],
    ['search', { url: 'http://db-1:9200' }],
    ['search', { insecure: true }],
    ['search', { tls_server_name: 'evil' }],
    ['search', { tls_min_version: 'tls10' }],
    ['third', { gateway: 'evil' }],
    ['third', { nobody_knows: 'evil' }],
    ['pg', { plugin_name: 'mysql-database-plugin' }],
  ])('of %s: %j is a 400 that names both, passes with the password, and with sudo', async (name, change) => {
    const secret = name === 'third' ? 'pin' : 'password';
    const [field] = Object.keys(change);
    const refused = await write(name, change);
    expect(refused).toContain(`400,${field}`);
    expect(refused).toContain(`send ${secret} again, or use a token whose policy grants sudo`);
    expect(refused).not.toContain('geheim');
    const passed = async (more: object, as?: string) => write(name, { ...change, ...more }, as);
    expect(await passed({ [secret]: 'geheim' })).not.toContain('again');
    const chief = (await mount.call('update', 'auth/token/create', { data: { policies: ['chief'] } })).auth!.client_token;
    expect(await passed({}, chief)).not.toContain('again');
  });

  test('what is no setting of the plugin is refused first, and nothing is asked of the new address', async () => {
    let asked = 0;
    const evil = createServer((socket) => {
      asked += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const connection_url = `postgresql://{{username}}:{{password}}@127.0.0.1:${(evil.address() as AddressInfo).port}/app`;
    const moved = { connection_url, verify_connection: true };
    try {
      expect(await write('pg', moved)).toContain('400,connection_url: a new value sends the stored password to another address');
      expect(await write('pg', { ...moved, max_open_connections: 'many' })).toMatch(/^400,.*max_open_connections/);
      expect(asked).toBe(0);
      expect(await write('pg', { ...moved, password: 'geheim' })).toMatch(/^400,/);
      expect(asked).toBeGreaterThan(0);
    } finally {
      await new Promise((resolve) => evil.close(resolve));
    }
  });

  test.each([
    ['pg', { max_open_connections: 9, username_template: 'v-{{ random 20 }}', password_authentication: 'scram-sha-256' }],
    ['pg', { connection_url: 'postgresql://{{username}}:{{password}}@db-1/app', allowed_roles: '*' }],
    ['pg', { connection_url: 'postgresql://{{username}}:{{password}}@db-1/app?' }],
    ['my', { connection_url: '{{username}}:{{password}}@tcp(db-1:3306)/?' }],
    ['ms', { connection_url: 'sqlserver://{{username}}:{{password}}@db-1?' }],
    ['mongo', { connection_url: 'mongodb://{{username}}:{{password}}@db-1/admin?' }],
    ['graph', { connection_url: 'neo4j+s://db-1:7687?' }],
    ['search', { url: 'https://db-1:9200?' }],
    ['my', { tls_skip_verify: false }],
    ['redis', { tls: 'true', persistence_mode: 'ACLFILE' }],
    ['flux', { tls: true, connect_timeout: '9s' }],
    ['search', { insecure: false, username_template: 'v-{{ random 20 }}' }],
    ['third', { colour: 'blue', strict: true }],
  ])('of %s: %j asks for no password', async (name, change) => {
    expect(await write(name, change)).toMatch(/^20[04]$/);
  });
});
