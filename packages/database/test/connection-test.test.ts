import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { connectionTo, mountDatabase } from './database-mount.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

interface Told {
  readonly ok: boolean;
  readonly stages: { stage: string; ok: boolean; message: string | null }[];
}

describe('settings of a connection are tried before anybody uses them', () => {
  let server: PostgresServer;
  let mount: TestMount;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => server.stop());
  beforeEach(async () => {
    mount = await mountDatabase();
  });
  afterEach(async () => mount.close());

  const tried = async (data: Record<string, unknown>, name = 'pg') => {
    const { ok, stages } = (await mount.write(`config/${name}/test`, data)).data as Told;
    return { ok, stages: stages.map(({ stage, ok: passed, message }) => `${stage} ${passed ? 'passed' : `failed: ${message}`}`) };
  };

  test('good settings pass every stage, and nothing is stored', async () => {
    expect(await tried(connectionTo(server))).toEqual({ ok: true, stages: ['settings passed', 'open passed', 'login passed'] });
    expect((await mount.call('read', 'database/config/pg')).status).toBe(404);
  });

  test('a wrong password fails the login with the sentence of the database, and shows no password', async () => {
    const { ok, stages } = await tried(connectionTo(server, { password: 'geheim-und-falsch' }));
    expect(ok).toBe(false);
    expect(stages).toHaveLength(3);
    expect(stages[2]).toContain('password authentication failed');
    expect(stages.join()).not.toContain('geheim');
  });

  test('a plugin that is not there, and parameters that it does not take, fail the settings', async () => {
    expect((await tried(connectionTo(server, { plugin_name: 'no-such-plugin' }))).stages).toEqual([
      expect.stringMatching(/^settings failed: .*no-such-plugin/),
    ]);
    expect((await tried({})).stages).toEqual([expect.stringMatching(/^settings failed: .*empty plugin name/)]);
    expect((await tried(connectionTo(server, { connection_url: 5 }))).ok).toBe(false);
  });

  test('stored settings count where none are sent, and a stored password goes to its own address alone', async () => {
    await mount.write('config/pg', connectionTo(server));
    expect((await tried({})).ok).toBe(true);
    await mount.call('update', 'sys/policies/acl/writer', { data: { policy: 'path "database/config/*" { capabilities = ["update"] }' } });
    const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } })).auth!.client_token;
    const elsewhere = { connection_url: 'postgresql://{{username}}:{{password}}@127.0.0.1:1/postgres' };
    const { data } = await mount.call('update', 'database/config/pg/test', { data: elsewhere, token });
    expect((data as Told).stages).toMatchObject([{ stage: 'settings', ok: false, message: expect.stringContaining('password') }]);
    expect((await mount.read('config/pg')).data).not.toMatchObject({ connection_details: elsewhere });
  });

  test('it needs update on its own path', async () => {
    await mount.call('update', 'sys/policies/acl/reader', { data: { policy: 'path "database/config/*" { capabilities = ["read"] }' } });
    const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['reader'] } })).auth!.client_token;
    expect((await mount.call('update', 'database/config/pg/test', { data: connectionTo(server), token })).status).toBe(403);
  });
});
