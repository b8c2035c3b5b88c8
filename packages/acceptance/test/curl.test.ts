import { execFile, spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { slapdMissing, startPostgres, startSlapd } from '@strongroom/lab';
import { freePort, startServer } from '../src/server-process.ts';

const missing = spawnSync('curl', ['--version']).status === 0 ? slapdMissing : 'curl is not installed';
const suite = missing === undefined ? describe : describe.skip;

suite(`curl, as Vault's and OpenBao's documentation uses it${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  test('does the walk, and three wrong inputs are named for what they are', async () => {
    const slapd = await startSlapd();
    const postgres = await startPostgres();
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const server = await startServer(['-dev', '-dev-root-token-id=root', `-dev-listen-address=127.0.0.1:${port}`], address);
    const curl = async (words: readonly string[], path: string, token = 'root'): Promise<{ status: number; json: Json }> =>
      new Promise((resolve, reject) => {
        const header = token === '' ? [] : ['--header', `X-Vault-Token: ${token}`];
        execFile('curl', ['--silent', '--write-out', '\n%{http_code}', ...header, ...words, `${address}/v1/${path}`], (error, stdout) => {
          if (error) return reject(error);
          const cut = stdout.lastIndexOf('\n');
          const body = stdout.slice(0, cut);
          resolve({ status: Number(stdout.slice(cut + 1)), json: (body === '' ? {} : JSON.parse(body)) as Json });
        });
      });
    try {
      const post = async (path: string, body: unknown, token?: string) =>
        curl(['--request', 'POST', '--data', JSON.stringify(body)], path, token);
      expect((await post('sys/auth/corp', { type: 'ldap' })).status).toBe(204);
      expect((await post('sys/mounts/db/prod', { type: 'database' })).status).toBe(204);
      expect(
        (
          await curl(
            ['--request', 'PUT', '--data', '{"policy":"path \\"db/prod/creds/app\\" { capabilities = [\\"read\\"] }"}'],
            'sys/policies/acl/app',
          )
        ).status,
      ).toBe(204);
      const config = {
        url: slapd.url,
        binddn: slapd.adminDn,
        bindpass: slapd.adminPassword,
        userdn: 'ou=people,dc=example,dc=org',
        userattr: 'uid',
      };
      const groups = { groupdn: 'ou=groups,dc=example,dc=org', groupfilter: '(member={{.UserDN}})' };
      expect((await post('auth/corp/config', { ...config, ...groups })).status).toBe(204);
      expect((await post('auth/corp/groups/eng', { policies: 'app' })).status).toBe(204);
      const connection = {
        plugin_name: 'postgresql-database-plugin',
        allowed_roles: 'app',
        connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${postgres.port}/postgres?sslmode=disable`,
        username: postgres.superuser,
        password: postgres.password,
      };
      expect((await post('db/prod/config/pg', connection)).status).toBe(204);
      const role = {
        db_name: 'pg',
        creation_statements: `CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`,
        default_ttl: '1h',
      };
      expect((await post('db/prod/roles/app', role)).status).toBe(204);

      const login = await curl(['--request', 'POST', '--data', '{"password":"pw7"}'], 'auth/corp/login/user7', '');
      expect(login.status).toBe(200);
      const token = login.json.auth!.client_token;
      const credential = await curl([], 'db/prod/creds/app', token);
      expect(await postgres.login(credential.json.data!['username']!, credential.json.data!['password']!)).toBe(
        credential.json.data!['username'],
      );
      expect((await curl([], 'db/prod/roles/app', token)).status).toBe(403);
      const listed = await curl(['--request', 'LIST'], 'sys/leases/lookup/db/prod/creds/app');
      expect(listed.json.data!['keys']).toHaveLength(1);
      expect(
        (await curl(['--request', 'PUT', '--data', JSON.stringify({ lease_id: credential.json.lease_id })], 'sys/leases/revoke')).status,
      ).toBe(204);
      await expect(postgres.login(credential.json.data!['username']!, credential.json.data!['password']!)).rejects.toThrow();

      // Three wrong inputs: a field, a body, a method.
      const badField = await post('db/prod/roles/app', { ...role, default_ttl: 'soon' });
      expect(badField.status).toBe(400);
      expect(badField.json.errors!.join()).toContain('default_ttl');
      const badBody = await curl(['--request', 'POST', '--data', '{"type":'], 'sys/mounts/x');
      expect(badBody.status).toBe(400);
      expect(badBody.json.errors!.join()).toContain('failed to decode JSON input');
      expect((await curl(['--request', 'DELETE'], 'sys/seal-status')).status).toBe(405);
    } finally {
      await server.stop();
      await postgres.stop();
      await slapd.stop();
    }
  }, 120_000);
});

interface Json {
  errors?: string[];
  auth?: { client_token: string };
  lease_id?: string;
  data?: Record<string, string>;
}
