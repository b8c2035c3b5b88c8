import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Meter } from './meter.ts';
import { freePort, startServer, type ServerProcess } from '../server-process.ts';
import type { Target } from './load.ts';

/** Loaded into a measured process. */
export const PROBE = new URL('./usage-probe.js', import.meta.url).href;

interface Envelope {
  keys_base64: string[];
  root_token: string;
}

export interface BenchServerOptions {
  /** The Node.js executable that runs it; this process's own by default. */
  readonly node?: string;
  readonly workers?: number;
  /** What follows `storage` in its configuration; a folder of LMDB by default. */
  readonly stanza?: string;
}

/** A server, initialized with one share; it can be restarted on the same store. */
export class BenchServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #node: string | undefined;
  readonly #data: string | undefined;
  #process: ServerProcess | undefined;
  #meter: Meter | undefined;
  #key = '';
  #token = '';

  private constructor(folder: string, port: number, { node, stanza }: BenchServerOptions) {
    this.#folder = folder;
    this.#port = port;
    this.#node = node;
    this.#data = stanza === undefined ? join(folder, 'data') : undefined;
  }

  static async start(options: BenchServerOptions = {}): Promise<BenchServer> {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-bench-'));
    const server = new BenchServer(folder, await freePort(), options);
    const { workers = 1, stanza = `"lmdb" { path = "${server.#data}" }` } = options;
    await writeFile(
      join(folder, 'server.hcl'),
      `storage ${stanza}\n` +
        `listener "tcp" {\n  address = "127.0.0.1:${server.#port}"\n  tls_disable = true\n}\nlog_level = "warn"\nworkers = ${workers}\n`,
    );
    await server.#spawn();
    const made = (await server.#put('init', { secret_shares: 1, secret_threshold: 1 })) as unknown as Envelope;
    server.#key = made.keys_base64[0]!;
    server.#token = made.root_token;
    await server.#put('unseal', { key: server.#key });
    return server;
  }

  get meter(): Meter {
    return this.#meter!;
  }

  get target(): Target {
    const { pid } = this.#process!;
    return { host: '127.0.0.1', port: this.#port, token: this.#token, pid, meter: this.meter };
  }

  /**
   * Ends the process, runs a program on its store, and starts it again. The program, a file of this folder, gets the folder of the store, the unseal key, the root token and
   * `words`. Resolves with what it wrote, and with the milliseconds from the start of the server until it serves.
   */
  async refill(program: string, words: readonly string[]): Promise<{ output: string; millis: number }> {
    if (this.#data === undefined) throw new Error('only a store of LMDB is refilled');
    await this.#process!.stop();
    const file = fileURLToPath(new URL(`./${program}`, import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [file, this.#data, this.#key, this.#token, ...words]);
    return { output: stdout, millis: await this.#start() };
  }

  /** Ends the process and starts it on the same store; resolves with the milliseconds from its start until it serves. */
  async restart(): Promise<number> {
    await this.#process!.stop();
    return this.#start();
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<number> {
    const began = performance.now();
    await this.#spawn();
    await this.#put('unseal', { key: this.#key });
    return performance.now() - began;
  }

  async #spawn(): Promise<void> {
    const options = { preload: PROBE, ...(this.#node && { node: this.#node }) };
    this.#process = await startServer([`-config=${join(this.#folder, 'server.hcl')}`], `http://127.0.0.1:${this.#port}`, options);
    this.#meter = new Meter(this.#process.child, this.#data);
  }

  async #put(path: string, body: unknown): Promise<Record<string, unknown>> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/v1/sys/${path}`, { method: 'PUT', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`sys/${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  }
}
