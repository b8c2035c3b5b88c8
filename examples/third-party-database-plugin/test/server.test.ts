import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findPostgres, type PostgresServer, startPostgres } from '@strongroom/lab';
import { readConfiguration, type RunningServer, startServer } from '@strongroom/server';

const available = (await findPostgres()) !== undefined;

(available ? describe : describe.skip)('a server whose configuration names the package', () => {
  let database: PostgresServer;
  let server: RunningServer;
  let folder: string;
  beforeAll(async () => {
    database = await startPostgres();
    folder = await mkdtemp(join(tmpdir(), 'strongroom-example-'));
    const file = join(folder, 'server.hcl');
    await writeFile(
      file,
      `storage "inmem" {}
       listener "tcp" { address = "127.0.0.1:0" }
       log_file = "${join(folder, 'server.log')}"
       plugin "@strongroom/example-third-party-database-plugin" {}`,
    );
    const configuration = await readConfiguration([file], { env: {}, dev: true });
    server = await startServer({ configuration, devRootToken: 'root-of-this-test' });
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    await database?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${server.addresses[0]}/v1/${path}`, {
      method,
      headers: { 'X-Vault-Token': 'root-of-this-test' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect({ path, status: response.status, text: response.ok ? '' : text }).toEqual({ path, status: response.status, text: '' });
    return text === '' ? undefined : (JSON.parse(text) as { lease_id: string; data: { username: string; password: string } });
  };

  test('issues users by the plugin, and takes them away', async () => {
    await call('POST', 'sys/mounts/database', { type: 'database' });
    await call('POST', 'database/config/app', {
      plugin_name: 'pg-wire-database-plugin',
      allowed_roles: 'app',
      connection_url: `postgresql://{{username}}:{{password}}@${database.host}:${database.port}/postgres`,
      username: database.superuser,
      password: database.password,
    });
    await call('POST', 'database/roles/app', {
      db_name: 'app',
      default_ttl: '10m',
      creation_statements: [`CREATE USER "{{name}}" WITH PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'`],
    });
    const { lease_id, data } = (await call('GET', 'database/creds/app'))!;
    expect(data.username).toMatch(/^v-app-/);
    expect(await database.login(data.username, data.password)).toBe(data.username);
    await call('PUT', 'sys/leases/renew', { lease_id, increment: 600 });
    await call('PUT', 'sys/leases/revoke', { lease_id });
    await expect(database.login(data.username, data.password)).rejects.toThrow('password authentication failed');
  });
});
