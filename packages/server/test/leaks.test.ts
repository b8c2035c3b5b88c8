import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, jest, test } from '@jest/globals';
import { scratchFolder } from './scratch.ts';

jest.setTimeout(60_000);

const folder = scratchFolder();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Two database plugins in which a user's creation succeeds, and something that it began goes wrong afterwards. */
writeFileSync(
  join(folder, 'leaky.mjs'),
  `const users = new Set();
const outside = new AsyncResource('outside of all calls');
const late = {
  timer: () => setTimeout(() => { throw new Error('a timer of the plugin'); }, 5),
  rejection: () => void Promise.resolve().then(() => { throw new Error('a promise of the plugin'); }),
  event: () => setTimeout(() => { new (class extends EventEmitter {})().emit('error', new Error('an event of the plugin')); }, 5),
  // In no call of the plugin, as on a connection that it has for all of them.
  socket: () => outside.runInAsyncScope(setTimeout, undefined, () => {
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read', stack: 'Error: read ECONNRESET\\n    at TCP.onStreamRead (node:net:1:1)' });
  }, 5),
  shared: () => outside.runInAsyncScope(setTimeout, undefined, () => { throw new Error('a shared timer of the plugin'); }, 5),
};
import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
const leaky = (name, more) => ({
  kind: 'database', name, ...more, version: '1.0.0', apiVersion: 2,
  connection: { type: 'object', properties: { leak: { type: 'string' } } },
  supports: { credentials: ['password'], expiry: 'lease-only', statements: 'json' },
  usernameTemplate: '{{ printf "v-%s-%s" .RoleName (random 20) }}',
  open: async ({ leak }) => ({
    verify: async () => {},
    createUser: async ({ username }) => { users.add(username); late[leak]?.(); },
    updateUser: async () => {},
    deleteUser: async ({ username }) => { users.delete(username); },
    close: async () => {},
  }),
});
export const plugins = [
  leaky('leaky-database-plugin'),
  leaky('placed-leaky-database-plugin', { code: [new URL('.', import.meta.url).href] }),
];
`,
);

async function startServer(): Promise<{ address: string; exited: () => boolean }> {
  writeFileSync(join(folder, 'plugins.hcl'), `plugin "./leaky.mjs" {}\nlog_level = "error"\n`);
  const words = ['-dev', '-dev-root-token-id=root', '-dev-listen-address=127.0.0.1:0', `-config=${join(folder, 'plugins.hcl')}`];
  const args = ['--import', fileOf('../../lab/scripts/typescript-loader.mjs'), fileOf('./child.ts'), ...words];
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let said = '';
  const address = await new Promise<string>((resolve, reject) => {
    const hear = (text: string): void => {
      said += text;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    child.once('close', () => reject(new Error(`it ended: ${said}`)));
  });
  return { address, exited: () => child.exitCode !== null };
}

/** A server with a connection, and a role, for each way to leak. */
async function serverWith(plugin: string, leaks: readonly string[]) {
  const { address, exited } = await startServer();
  const call = async (method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`${address}/v1/${path}`, {
      method,
      headers: { 'X-Vault-Token': 'root' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const quarantineOf = async (leak: string): Promise<string | null> => {
    let quarantine: string | null = null;
    while (quarantine === null && !exited()) {
      const { text } = await call('GET', `database/config/${leak}/status`);
      quarantine = (JSON.parse(text) as { data: { quarantine: string | null } }).data.quarantine;
    }
    return quarantine;
  };
  expect((await call('POST', 'sys/mounts/database', { type: 'database' })).status).toBe(204);
  for (const leak of leaks) {
    const config = { plugin_name: plugin, allowed_roles: '*', leak };
    expect(await call('POST', `database/config/${leak}`, config)).toEqual({ status: 204, text: '' });
    expect((await call('POST', `database/roles/${leak}`, { db_name: leak, creation_statements: '{}' })).status).toBe(204);
  }
  return { call, exited, quarantineOf };
}

test('a plugin that leaks an exception after its call has ended does not stop the server: its connections are quarantined and say why', async () => {
  const { call, exited, quarantineOf } = await serverWith('leaky-database-plugin', ['none', 'timer', 'rejection', 'event']);
  const reasons = { timer: 'a timer of the plugin', rejection: 'a promise of the plugin', event: 'an event of the plugin' };
  for (const [leak, reason] of Object.entries(reasons)) {
    expect((await call('GET', `database/creds/${leak}`)).status).toBe(200);
    expect(await quarantineOf(leak)).toBe(`plugin leaky-database-plugin threw after its call had ended: ${reason}`);
    expect((await call('GET', `database/creds/${leak}`)).status).toBe(503);
  }
  expect((await call('GET', 'database/creds/none')).status).toBe(200);
  expect(exited()).toBe(false);
});

test('one that says where its code is is known by the stack of what it leaks; a connection that fails unheard harms nobody else', async () => {
  const { call, exited, quarantineOf } = await serverWith('placed-leaky-database-plugin', ['none', 'socket', 'shared']);
  expect((await call('GET', 'database/creds/none')).status).toBe(200);
  expect((await call('GET', 'database/creds/socket')).status).toBe(200);
  expect((await call('GET', 'database/creds/shared')).status).toBe(200);
  // Which of its connections it was is not known, so all are quarantined.
  for (const leak of ['shared', 'none'])
    expect(await quarantineOf(leak)).toBe(
      'plugin placed-leaky-database-plugin threw after its call had ended: a shared timer of the plugin',
    );
  expect(exited()).toBe(false);
});
