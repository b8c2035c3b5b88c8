import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { bundledServer } from '@strongroom/lab';
import { scratchFolder } from './scratch.ts';

jest.setTimeout(120_000);

const folder = scratchFolder();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
const USERS = join(folder, 'users');

/** A database whose users are lines of a file, and a plugin that hangs when it has made one, where the role asks for that. */
writeFileSync(USERS, '');
writeFileSync(
  join(folder, 'file-database.mjs'),
  `import { readFileSync, writeFileSync } from 'node:fs';
const file = ${JSON.stringify(USERS)};
const users = () => readFileSync(file, 'utf8').split('\\n').filter(Boolean);
const write = (names) => writeFileSync(file, names.map((name) => name + '\\n').join(''));
export const plugin = {
  kind: 'database', name: 'file-database-plugin', version: '1.0.0', apiVersion: 2,
  code: [new URL('.', import.meta.url).href],
  connection: { type: 'object', properties: {} },
  supports: { credentials: ['password'], expiry: 'lease-only', statements: 'json' },
  usernameTemplate: '{{ printf "v-%s-%s" .RoleName (random 20) }}',
  open: async () => ({
    verify: async () => {},
    createUser: async ({ username, statements }) => {
      write([...users(), username]);
      if (JSON.stringify(statements).includes('hang')) await new Promise(() => undefined);
    },
    updateUser: async () => {},
    deleteUser: async ({ username }) => write(users().filter((name) => name !== username)),
    close: async () => {},
  }),
};
`,
);
writeFileSync(
  join(folder, 'server.hcl'),
  `storage "lmdb" { path = ${JSON.stringify(join(folder, 'store'))} }
listener "tcp" { address = "127.0.0.1:0", tls_disable = true }
seal "static" { current_key_id = "1", current_key = "${'ab'.repeat(32)}" }
plugin "./file-database.mjs" {}
`,
);

async function startServer() {
  const args = [await bundledServer(), 'server', `-config=${join(folder, 'server.hcl')}`];
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let said = '';
  const address = await new Promise<string>((resolve, reject) => {
    const hear = (text: string): void => {
      said += text;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found && said.includes('ready')) resolve(found[0]);
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    child.once('close', () => reject(new Error(`it ended: ${said}`)));
  });
  const call = async (method: string, path: string, token: string, body?: unknown) => {
    const answer = await fetch(`${address}/v1/${path}`, {
      method,
      headers: { 'X-Vault-Token': token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: text === '' ? undefined : (JSON.parse(text) as { root_token?: string; data?: Record<string, unknown> }),
    };
  };
  return { child, call, said: () => said };
}

const users = (): string[] => (existsSync(USERS) ? readFileSync(USERS, 'utf8').split('\n').filter(Boolean) : []);
/** Looks again until it holds: how long that takes by the clock on the wall is the machine's affair. */
async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise((resolve) => setImmediate(resolve));
}

test('the user that a killed server had begun to make is gone soon after the restart, and the one that was issued stays', async () => {
  const first = await startServer();
  const init = await first.call('PUT', 'sys/init', '', { recovery_shares: 1, recovery_threshold: 1 });
  const token = init.body!.root_token!;
  expect((await first.call('POST', 'sys/mounts/database', token, { type: 'database' })).status).toBe(204);
  await first.call('POST', 'database/config/file', token, { plugin_name: 'file-database-plugin', allowed_roles: '*' });
  for (const name of ['fine', 'hang'])
    await first.call('POST', `database/roles/${name}`, token, {
      db_name: 'file',
      creation_statements: JSON.stringify({ do: name, name: '{{name}}' }),
    });
  const issued = await first.call('GET', 'database/creds/fine', token);
  expect(issued.status).toBe(200);
  first.call('GET', 'database/creds/hang', token).catch(() => undefined);
  await until(() => users().length === 2);
  const ended = new Promise((resolve) => first.child.once('close', resolve));
  first.child.kill('SIGKILL');
  await ended;
  expect(users()).toHaveLength(2);
  const second = await startServer();
  await until(() => users().length === 1 || second.child.exitCode !== null);
  expect(users()).toEqual([issued.body!.data!['username']]);
  await until(() => second.said().includes('taken over'));
  const lookup = await second.call('PUT', 'sys/leases/lookup', token, { lease_id: 'x' });
  expect(lookup.status).toBe(400);
});
