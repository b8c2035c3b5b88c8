import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledServer } from '@strongroom/lab';
import { buildPages } from './built-pages.ts';

const COMMAND = fileURLToPath(new URL('../../../cli/bin/strongroom.js', import.meta.url));
const ROOT_TOKEN = 'root-of-browser-tests';

export interface ConsoleServerOptions {
  /** Configuration in HCL beside what a development server has. */
  readonly configuration?: string;
  /** A server without keys, as an installer finds it, in place of a development server. */
  readonly uninitialized?: boolean;
  /** Where a server without keys stores what it stores: the next server of the folder finds it there, and nobody deletes it. */
  readonly store?: string;
  /** The built command, which shares its packages with a plugin that the configuration names: a bundle has them once more. */
  readonly built?: boolean;
}

/** An answer of the API, as tests of pages need it. */
export interface Told {
  readonly status: number;
  readonly data: Record<string, unknown>;
  readonly auth: { client_token: string; accessor: string } | null;
  readonly errors: readonly string[];
  readonly body: Record<string, unknown>;
}

/** A development server in a process of its own, with the pages. */
export class ConsoleServer {
  readonly #child: ChildProcess;
  readonly #folder: string;
  /** Where the browser goes: `http://127.0.0.1:…`. */
  readonly origin: string;
  readonly rootToken = ROOT_TOKEN;

  private constructor(child: ChildProcess, folder: string, origin: string) {
    this.#child = child;
    this.#folder = folder;
    this.origin = origin;
  }

  static async start({
    configuration = '',
    uninitialized = false,
    store,
    built = false,
  }: ConsoleServerOptions = {}): Promise<ConsoleServer> {
    buildPages();
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-console-'));
    const file = join(folder, 'server.hcl');
    const storage = store === undefined ? 'storage "inmem" {}' : `storage "lmdb" { path = "${store}" }`;
    const plain = uninitialized ? `${storage}\nlistener "tcp" { address = "127.0.0.1:0" }\n` : '';
    const development = ['-dev', `-dev-root-token-id=${ROOT_TOKEN}`, '-dev-listen-address=127.0.0.1:0'];
    await writeFile(file, `ui = true\n${plain}${configuration}\n`);
    const words = [built ? COMMAND : await bundledServer(), 'server', ...(uninitialized ? [] : development), `-config=${file}`];
    const child = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const killed = (): void => void child.kill('SIGKILL');
    process.once('exit', killed);
    child.once('exit', () => process.removeListener('exit', killed));
    const address = await addressOf(child);
    return new ConsoleServer(child, folder, address);
  }

  /** Calls the API, with the root token unless another is given. */
  async ask(method: string, path: string, body?: unknown, token: string = ROOT_TOKEN): Promise<Told> {
    const response = await fetch(`${this.origin}/v1/${path}`, {
      method,
      headers: { 'X-Vault-Token': token, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    const answer = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>;
    return {
      status: response.status,
      data: (answer.data ?? {}) as Record<string, unknown>,
      auth: (answer.auth ?? null) as Told['auth'],
      errors: (answer.errors ?? []) as string[],
      body: answer,
    };
  }

  /** Calls the API to prepare a test. @throws Error when it refuses */
  async set(method: string, path: string, body?: unknown): Promise<Told> {
    const told = await this.ask(method, path, body);
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${told.errors.join('; ')}`);
    return told;
  }

  /** A token with a policy of these rules alone, in HCL. */
  async tokenWith(name: string, rules: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    await this.set('POST', `sys/policies/acl/${name}`, { policy: rules });
    const { auth } = await this.set('POST', 'auth/token/create', { policies: [name], ...more });
    return auth!.client_token;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve));
      this.#child.kill('SIGTERM');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const heard = (chunk: string): void => {
      text += chunk;
      const said = /(?:STRONGROOM_ADDR='|Listeners: )(http:[^'\s,]+)/.exec(text);
      if (said) resolve(said[1]!);
    };
    child.stdout!.setEncoding('utf8').on('data', heard);
    child.stderr!.setEncoding('utf8').on('data', heard);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
  });
}
