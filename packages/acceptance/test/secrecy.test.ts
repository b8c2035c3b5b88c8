import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type PostgresServer, type Slapd, slapdMissing, startPostgres, startSlapd } from '@strongroom/lab';
import { freePort, startServer } from '../src/server-process.ts';

describe('what a server leaves behind', () => {
  let folder: string;
  let postgres: PostgresServer;
  let slapd: Slapd | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-secrecy-'));
    postgres = await startPostgres();
    if (slapdMissing === undefined) slapd = await startSlapd();
  }, 60_000);
  afterAll(async () => {
    await slapd?.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('holds no secret in clear: not in the store, not in the log, not in the audit file, not in what it printed', async () => {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const config = join(folder, 'server.hcl');
    await writeFile(
      config,
      `storage "lmdb" { path = "${join(folder, 'data')}" }\n` +
        `listener "tcp" {\n  address = "127.0.0.1:${port}"\n  tls_disable = true\n}\nlog_level = "debug"\nlog_file = "${join(folder, 'server.log')}"\n`,
    );
    const server = await startServer([`-config=${config}`], address);
    const secrets: string[] = [];
    const call = async (method: string, path: string, body?: unknown, token = ''): Promise<Answer> => {
      const answer = await fetch(`${address}/v1/${path}`, {
        method,
        headers: token === '' ? {} : { 'X-Vault-Token': token },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, ...(text === '' ? {} : (JSON.parse(text) as object)) } as Answer;
    };
    try {
      const made = (await call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 })) as unknown as {
        keys_base64: string[];
        root_token: string;
      };
      const root = made.root_token;
      secrets.push(root, ...made.keys_base64, Buffer.from(made.keys_base64[0]!, 'base64').toString('hex'));
      await call('PUT', 'sys/unseal', { key: made.keys_base64[0] });
      await call('PUT', 'sys/audit/file', { type: 'file', options: { file_path: join(folder, 'audit.log') } }, root);

      secrets.push('kv-secret-value-7f3a91', 'kv-wrapped-value-1c99d2', 'cubbyhole-value-55ab01');
      await call('POST', 'sys/mounts/secret', { type: 'kv', options: { version: '2' } }, root);
      await call('POST', 'secret/data/app', { data: { password: 'kv-secret-value-7f3a91' } }, root);
      await call('GET', 'secret/data/app', undefined, root);
      await call('POST', 'cubbyhole/mine', { v: 'cubbyhole-value-55ab01' }, root);
      const wrapped = await fetch(`${address}/v1/sys/wrapping/wrap`, {
        method: 'POST',
        headers: { 'X-Vault-Token': root, 'X-Vault-Wrap-TTL': '60' },
        body: JSON.stringify({ v: 'kv-wrapped-value-1c99d2' }),
      });
      secrets.push(((await wrapped.json()) as { wrap_info: { token: string } }).wrap_info.token);

      const token = (await call('POST', 'auth/token/create', { policies: ['default'] }, root)).auth!.client_token;
      const batch = (await call('POST', 'auth/token/create', { type: 'batch', policies: ['default'], ttl: '1h' }, root)).auth!.client_token;
      secrets.push(token, batch);
      // Wrong inputs are written about too.
      await call('GET', 'secret/data/app', undefined, 's.a-token-that-never-was-4411');
      secrets.push('s.a-token-that-never-was-4411');

      await call('POST', 'sys/mounts/db', { type: 'database' }, root);
      secrets.push(postgres.password, 'a-wrong-database-password-9931');
      const connection = {
        plugin_name: 'postgresql-database-plugin',
        allowed_roles: '*',
        connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${postgres.port}/postgres?sslmode=disable`,
        username: postgres.superuser,
      };
      const refused = await call('POST', 'db/config/bad', { ...connection, password: 'a-wrong-database-password-9931' }, root);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(JSON.stringify(refused)).not.toContain('a-wrong-database-password-9931');
      expect((await call('POST', 'db/config/pg', { ...connection, password: postgres.password }, root)).status).toBeLessThan(300);
      await call(
        'POST',
        'db/roles/app',
        { db_name: 'pg', creation_statements: [`CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`] },
        root,
      );
      const credential = (await call('GET', 'db/creds/app', undefined, root)).data as { password: string };
      expect(credential.password).toHaveLength(20);
      secrets.push(credential.password);

      if (slapd) {
        await call('POST', 'sys/auth/corp', { type: 'ldap' }, root);
        await call(
          'POST',
          'auth/corp/config',
          { url: slapd.url, binddn: slapd.adminDn, bindpass: slapd.adminPassword, userdn: 'ou=people,dc=example,dc=org', userattr: 'uid' },
          root,
        );
        const login = await call('POST', 'auth/corp/login/user55', { password: 'pw55' });
        expect(login.status).toBe(200);
        await call('POST', 'auth/corp/login/user55', { password: 'a-mistyped-password-2718' });
        secrets.push(slapd.adminPassword, 'a-mistyped-password-2718', login.auth!.client_token);
      }
    } finally {
      await server.stop();
    }

    const files = await filesBelow(folder);
    expect(files.some((file) => file.endsWith('audit.log'))).toBe(true);
    expect(files.some((file) => file.endsWith('server.log'))).toBe(true);
    expect(files.some((file) => file.endsWith('data.mdb'))).toBe(true);
    const found: string[] = [];
    for (const file of files) {
      const bytes = await readFile(file);
      secrets.forEach((secret, i) => {
        if (bytes.includes(secret)) found.push(`secret ${i} in ${file.slice(folder.length)}`);
      });
    }
    secrets.forEach((secret, i) => {
      if (server.log().includes(secret)) found.push(`secret ${i} in what the server printed`);
    });
    expect(secrets.length).toBeGreaterThan(12);
    expect(found).toEqual([]);
  }, 60_000);
});

interface Answer {
  status: number;
  data?: unknown;
  auth?: { client_token: string };
}

async function filesBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const files: string[] = [];
  for (const name of names) if ((await stat(join(folder, name))).isFile()) files.push(join(folder, name));
  return files;
}
