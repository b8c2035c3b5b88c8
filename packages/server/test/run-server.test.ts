import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { bundledServer } from '@strongroom/lab';
import { scratchFolder } from './scratch.ts';

jest.setTimeout(60_000);

const folder = scratchFolder();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const program = await bundledServer();

/** A server in a process of its own. */
class ServerProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  stdout = '';
  stderr = '';
  #waiting: (() => void)[] = [];

  constructor(words: readonly string[], env: Record<string, string> = {}) {
    const args = [program, 'server', ...words];
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    this.child = spawn(process.execPath, args, { env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(this.child);
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => this.#heard(() => (this.stdout += text)));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => this.#heard(() => (this.stderr += text)));
    this.exited = new Promise((resolve) => {
      this.child.once('close', (code) => {
        this.#heard(() => undefined);
        resolve(code);
      });
    });
  }

  /** Waits for a text on either stream, and answers its first group. */
  async says(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (match) return match[1] ?? match[0];
      if (this.child.exitCode !== null) throw new Error(`it ended before it said ${String(pattern)}:\n${this.stdout}${this.stderr}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** @throws Error when it does not end by itself */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
  }

  #heard(what: () => void): void {
    what();
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

describe('strongroom server', () => {
  test('-dev says where it is and what its token is, and ends with SIGTERM', async () => {
    const server = new ServerProcess(['-dev', '-dev-root-token-id=root', '-dev-listen-address=127.0.0.1:0']);
    const address = await server.says(/STRONGROOM_ADDR='(http:\/\/127\.0\.0\.1:\d+)'/);
    await server.says(/"?ready/);
    expect(server.stdout).toMatch(/^Root Token: root$/m);
    expect(server.stdout).toMatch(/^WARNING! dev mode is enabled!/);
    const answer = await fetch(`${address}/v1/sys/mounts`, { headers: { 'X-Vault-Token': 'root' } });
    expect(await answer.json()).toMatchObject({ data: { 'secret/': { type: 'kv', options: { version: '2' } } } });
    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.stderr).toContain('stopped');
  });

  test('-dev makes up a token when none is given, and does not log it', async () => {
    const server = new ServerProcess(['-dev', '-dev-listen-address=127.0.0.1:0', '-log-level=trace']);
    const token = await server.says(/^Root Token: (s\.[A-Za-z\d]{24})$/m);
    const address = await server.says(/STRONGROOM_ADDR='([^']+)'/);
    expect((await fetch(`${address}/v1/auth/token/lookup-self`, { headers: { 'X-Vault-Token': token } })).status).toBe(200);
    expect(await server.end('SIGINT')).toBe(0);
    expect(server.stderr).not.toContain(token);
  });

  test('keeps what it stores, and opens by itself with a static seal', async () => {
    const config = join(folder, 'keeps.hcl');
    writeFileSync(
      config,
      'listener "tcp" { address = "127.0.0.1:0" }\nseal "static" { current_key_id = "1", current_key = "env://SEAL_KEY" }',
    );
    const env = { STRONGROOM_DATA_DIR: join(folder, 'keeps'), SEAL_KEY: 'cd'.repeat(32) };
    const before = new ServerProcess([`-config=${config}`], env);
    let address = await before.says(/Listeners: (\S+)/);
    const made = await fetch(`${address}/v1/sys/init`, { method: 'POST', body: '{"recovery_shares":1,"recovery_threshold":1}' });
    const { root_token } = (await made.json()) as { root_token: string };
    const headers = { 'X-Vault-Token': root_token };
    expect((await fetch(`${address}/v1/sys/mounts/kv`, { method: 'POST', headers, body: '{"type":"kv"}' })).status).toBe(204);
    expect((await fetch(`${address}/v1/kv/a`, { method: 'POST', headers, body: '{"b":"c"}' })).status).toBe(204);
    expect(await before.end('SIGKILL')).toBe(null);
    const after = new ServerProcess([`-config=${config}`], env);
    address = await after.says(/Listeners: (\S+)/);
    await after.says(/State: unsealed/);
    expect(await (await fetch(`${address}/v1/kv/a`, { headers })).json()).toMatchObject({ data: { b: 'c' } });
    expect(await after.end('SIGTERM')).toBe(0);
    const log = before.stderr + after.stderr;
    for (const secret of [root_token, env.SEAL_KEY]) expect(log).not.toContain(secret);
  });

  test('ignores SIGUSR1, by which Node opens its debugger, and SIGUSR2, and says so', async () => {
    const server = new ServerProcess(['-dev', '-dev-listen-address=127.0.0.1:0']);
    await server.says(/ready/);
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
      server.child.kill(signal);
      await server.says(new RegExp(`the signal was ignored; SIGHUP reloads, SIGTERM stops: signal=${signal}|Debugger listening`));
    }
    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.stderr).not.toContain('Debugger');
  });

  test('reloads once it has started where SIGHUP comes before', async () => {
    const plugin = `export const early = { name: 'early', kind: 'secret', apiVersion: 2, create: () => ({ paths: [] }) };\n`;
    writeFileSync(join(folder, 'early.mjs'), `process.kill(process.pid, 'SIGHUP');\n${plugin}`);
    const config = join(folder, 'early.hcl');
    writeFileSync(config, 'plugin "./early.mjs" {}');
    const server = new ServerProcess(['-dev', '-dev-listen-address=127.0.0.1:0', '-config', config]);
    await server.says(/ready/);
    await server.says(/reloaded/);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('reloads once it has started where SIGHUP comes before anything is loaded', async () => {
    const sender = `process.once('newListener', () => setImmediate(() => process.kill(process.pid, 'SIGHUP')));`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(sender).replaceAll("'", '%27')}` };
    const server = new ServerProcess(['-dev', '-dev-listen-address=127.0.0.1:0'], env);
    await server.says(/reloaded/);
    await server.says(/ready/);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('takes the log level of its configuration at SIGHUP, and keeps going when that is faulty', async () => {
    const config = join(folder, 'level.hcl');
    const log = join(folder, 'level.log');
    const write = (level: string): void => writeFileSync(config, `log_level = "${level}"\nlog_format = "json"\nlog_file = "${log}"`);
    write('warn');
    const server = new ServerProcess(['-dev', '-dev-listen-address=127.0.0.1:0', '-config', config]);
    await server.says(/Root Token/);
    write('loud');
    server.child.kill('SIGHUP');
    await until(() => readFileSync(log, 'utf8').includes('log_level is'));
    write('debug');
    server.child.kill('SIGHUP');
    await until(() => readFileSync(log, 'utf8').includes('"msg":"reloaded"'));
    expect(await server.end('SIGTERM')).toBe(0);
    expect(readFileSync(log, 'utf8')).toContain('"msg":"stopped"');
  });

  test('ends with 1 and every complaint when its configuration is faulty', async () => {
    const config = join(folder, 'faulty.json');
    writeFileSync(config, '{"storag": {"lmdb": {}}, "log_level": "loud"}');
    const server = new ServerProcess([`-config=${config}`]);
    expect(await server.exited).toBe(1);
    expect(server.stderr).toBe(
      `Error: the configuration cannot be used (2 complaints):\n  ${config}:1: log_level is "loud"; it must be "trace", "debug", "info", "warn" or "error"\n  ${config}:1: storag is not a known key; did you mean storage?\n`,
    );
  });

  test('ends with 1 and a plain sentence when its address is in use', async () => {
    const first = new ServerProcess(['-dev', '-dev-listen-address=127.0.0.1:0']);
    const address = new URL(await first.says(/STRONGROOM_ADDR='([^']+)'/)).host;
    const second = new ServerProcess(['-dev', `-dev-listen-address=${address}`]);
    expect(await second.exited).toBe(1);
    expect(second.stderr).toContain(`Error: cannot listen on ${address}: the address is in use: is another server running?\n`);
    expect(second.stderr).not.toContain(' at ');
  });
});

/** Looks again whenever the event loop comes round. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
