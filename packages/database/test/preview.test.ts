import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { makeAuthority } from './authority.ts';
import { connectionTo, CREATION, mountDatabase, usersOf } from './database-mount.ts';
import { faultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

interface Preview {
  username: string;
  expiration: string;
  lease_duration: number;
  statements: string[];
  sample: Record<string, string>;
}

describe('POST roles/:name/preview', () => {
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    mount = await mountDatabase({ plugins: [postgresqlPlugin, faultyDatabase().plugin] });
    await mount.write('config/pg', connectionTo(server));
  });
  afterEach(async () => mount.close());

  const preview = async (name: string, data?: Record<string, unknown>) =>
    (await mount.write(`roles/${name}/preview`, data)).data as Preview;
  const refusal = async (name: string, data?: Record<string, unknown>) => {
    const { status, errors } = await mount.call('update', `database/roles/${name}/preview`, data ? { data } : {});
    return [status, ...(errors ?? [])].join();
  };

  test('shows the statements of a stored role, a user name and the expiry, with a sample password, and does nothing', async () => {
    await mount.write('roles/app', {
      db_name: 'pg',
      creation_statements: `${CREATION} GRANT pg_monitor TO "{{name}}";`,
      default_ttl: '1h',
    });
    const shown = await preview('app');
    const end = new Date(mount.clock.millis() + 3_605_000);
    expect(shown).toMatchObject({ lease_duration: 3_600, expiration: end.toISOString(), credential_type: 'password' });
    expect(shown.username).toMatch(/^v-root-app-[A-Za-z0-9]{20}-\d{10}$/);
    const expiry = `${end.toISOString().slice(0, 19).replace('T', ' ')}+0000`;
    expect(shown.statements).toEqual([
      `CREATE ROLE "${shown.username}" WITH LOGIN PASSWORD '${shown.sample['password']}' VALID UNTIL '${expiry}'`,
      `GRANT pg_monitor TO "${shown.username}"`,
    ]);
    expect(await usersOf(server)).toEqual([]);
    expect((await mount.call('read', 'sys/journal')).data).toEqual({ intents: [] });
    expect((await mount.call('list', 'sys/leases/lookup/database/creds')).status).toBe(404);
    // A real password is never shown: the sample is the same for all.
    expect((await preview('app')).sample).toEqual(shown.sample);
  });

  test('shows what an unsaved role would do, alone or over a stored one', async () => {
    const shown = await preview('new', { db_name: 'pg', creation_statements: CREATION, default_ttl: 60 });
    expect(shown.lease_duration).toBe(60);
    expect((await mount.call('read', 'database/roles/new')).status).toBe(404);
    await mount.write('roles/app', { db_name: 'pg', creation_statements: CREATION });
    const changed = await preview('app', { creation_statements: ['SELECT 1', `${CREATION}`] });
    expect(changed.statements[0]).toBe('SELECT 1');
    expect((await mount.read('roles/app')).data).toMatchObject({ creation_statements: [CREATION] });
  });

  test('works while the database is down, and opens no session', async () => {
    await mount.write('config/down', connectionTo(server, { verify_connection: false, connection_url: 'postgresql://127.0.0.1:1/x' }));
    await mount.write('reload/postgresql-database-plugin');
    expect((await preview('any', { db_name: 'down', creation_statements: CREATION })).statements).toHaveLength(1);
    expect((await mount.read('config/down/status')).data).toMatchObject({ open: false });
  });

  test('shows the subject of a client_certificate by common_name_template', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strongroom-ca-'));
    const ca = makeAuthority(folder, ['-algorithm', 'ed25519']);
    rmSync(folder, { recursive: true, force: true });
    const shown = await preview('cert', {
      db_name: 'pg',
      creation_statements: `CREATE ROLE "{{name}}" LOGIN; COMMENT ON ROLE "{{name}}" IS '{{subject}}';`,
      credential_type: 'client_certificate',
      credential_config: { ...ca, key_type: 'ed25519', common_name_template: 'app-{{.RoleName}}' },
    });
    expect(shown.sample).toEqual({ subject: 'CN=app-cert' });
    expect(shown.statements[1]).toContain(`IS 'CN=app-cert'`);
  });

  test('refuses what creds would refuse, and names it', async () => {
    expect(await refusal('none')).toBe('400,unknown role: none');
    expect(await refusal('x', { db_name: 'nodb', creation_statements: CREATION })).toContain('failed to find entry for connection');
    expect(await refusal('x', { db_name: 'pg' })).toContain('empty creation statements');
    expect(await refusal('x', { db_name: 'pg', default_ttl: 'soon' })).toContain('default_ttl');
    expect(await refusal('x', { db_name: 'pg', credential_type: 'rsa_private_key' })).toContain('does not support credential_type');
    await mount.write('config/narrow', connectionTo(server, { allowed_roles: 'other' }));
    expect(await refusal('x', { db_name: 'narrow', creation_statements: CREATION })).toContain('"x" is not an allowed role');
    await mount.write('config/memory', { plugin_name: 'faulty-database-plugin', host: 'h', allowed_roles: '*' });
    expect(await refusal('x', { db_name: 'memory', creation_statements: '{}' })).toContain('faulty-database-plugin has no preview');
  });
});
