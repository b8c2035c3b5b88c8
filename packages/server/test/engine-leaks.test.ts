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

/** An engine that misbehaves as it is asked to. */
writeFileSync(
  join(folder, 'leaky-engine.mjs'),
  `import { AsyncResource } from 'node:async_hooks';
const outside = new AsyncResource('outside of all calls');
const field = { type: 'string', 'x-field': { kind: 'name', required: true } };
const ways = {
  timer: () => setTimeout(() => { throw new Error('a timer of the engine'); }, 5),
  // Its stack names no file, and it runs in no call: nobody can tell whose it is.
  nameless: () => outside.runInAsyncScope(setTimeout, undefined, JSON.parse.bind(null, '{'), 5),
  open: () => { setInterval(() => undefined, 1_000); },
  none: () => undefined,
};
export const leaky = {
  name: 'leaky', kind: 'secret', apiVersion: 2, version: '1.0.0',
  create: () => ({
    close: () => new Promise(() => undefined),
    paths: [{
      pattern: 'leak/{way}',
      about: { synopsis: 'Leaks.', description: '', fields: { way: field } },
      operations: { read: { summary: 'Leaks.', handle: async ({ data }) => { ways[data.way](); return { data: {} }; } } },
    }],
  }),
};
`,
);

async function startServer() {
  writeFileSync(join(folder, 'plugins.hcl'), `plugin "./leaky-engine.mjs" {}\n`);
  const words = ['server', '-dev', '-dev-root-token-id=root', '-dev-listen-address=127.0.0.1:0', `-config=${join(folder, 'plugins.hcl')}`];
  const args = ['--import', fileOf('../../lab/scripts/typescript-loader.mjs'), fileOf('../../cli/src/main.ts'), ...words];
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let said = '';
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
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
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${address}/v1/${path}`, {
      method,
      headers: { 'X-Vault-Token': 'root' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  for (const path of ['one', 'secret-two'])
    expect((await call('POST', `sys/mounts/${path}`, { type: path === 'one' ? 'leaky' : 'kv' })).status).toBe(204);
  return { child, call, exited, said: () => said };
}

test('an engine that throws on a timer is quarantined and says why, until its plugin is reloaded; the other mounts go on', async () => {
  const { call, child } = await startServer();
  expect((await call('GET', 'one/leak/timer')).status).toBe(200);
  let answer = await call('GET', 'one/leak/none');
  while (answer.status === 200) answer = await call('GET', 'one/leak/none');
  expect(answer).toMatchObject({
    status: 503,
    text: expect.stringContaining('the engine threw after its call had ended: a timer of the engine'),
  });
  expect((await call('POST', 'secret-two/a', { b: 'c' })).status).toBe(204);
  expect((await call('GET', 'secret-two/a')).status).toBe(200);
  expect((await call('POST', 'sys/plugins/reload/backend', { mounts: 'one' })).status).toBeLessThan(300);
  expect((await call('GET', 'one/leak/none')).status).toBe(200);
  expect(child.exitCode).toBeNull();
});

test('an exception that nobody can be blamed for stops the server in order, sealed, with exit code 1', async () => {
  const { call, exited, said } = await startServer();
  await call('GET', 'one/leak/nameless');
  expect(await exited).toBe(1);
  expect(said()).toContain('the server stops because of an uncaught error');
  expect(said()).toMatch(/sealed[^]*stopped/);
});

test('SIGTERM ends the server with 0, whatever an engine holds open', async () => {
  const { call, child, exited, said } = await startServer();
  await call('GET', 'one/leak/open');
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
  expect(said()).toMatch(/sealed[^]*stopped/);
});
