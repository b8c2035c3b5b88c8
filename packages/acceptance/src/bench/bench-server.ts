import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Meter } from './meter.ts';
import { freePort, startServer, type ServerProcess } from '../server-process.ts';
import type { Target } from './load.ts';

/** Loaded into a measured process. */
export const PROBE = new URL('./usage-probe.js', import.meta.url).href;

interface Envelope {
  keys_base64: string[];
  root_token: string;
}

/** A server on LMDB, initialised with one share; it can be restarted on the same store. */
export class BenchServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #node: string | undefined;
  #process: ServerProcess | undefined;
  #meter: Meter | undefined;
  #key = '';
  #token = '';

  private constructor(folder: string, port: number, node: string | undefined) {
    this.#folder = folder;
    this.#port = port;
    this.#node = node;
  }

  /** @param node the Node.js executable that runs it; this process's own by default */
  static async start(node?: string, workers = 1): Promise<BenchServer> {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-bench-'));
    const server = new BenchServer(folder, await freePort(), node);
    await writeFile(
      join(folder, 'server.hcl'),
      `storage "lmdb" { path = "${join(folder, 'data')}" }\n` +
        `listener "tcp" {\n  address = "127.0.0.1:${server.#port}"\n  tls_disable = true\n}\nlog_level = "warn"\nworkers = ${workers}\n`,
    );
    await server.#spawn();
    const made = (await server.#put('init', { secret_shares: 1, secret_threshold: 1 })) as unknown as Envelope;
    server.#key = made.keys_base64[0]!;
    server.#token = made.root_token;
    await server.#put('unseal', { key: server.#key });
    return server;
  }

  get target(): Target {
    const { pid } = this.#process!;
    return { host: '127.0.0.1', port: this.#port, token: this.#token, pid, meter: this.#meter! };
  }

  /** Ends the process and starts it on the same store; resolves with the milliseconds from its start until it serves. */
  async restart(): Promise<number> {
    await this.#process!.stop();
    const began = performance.now();
    await this.#spawn();
    await this.#put('unseal', { key: this.#key });
    return performance.now() - began;
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #spawn(): Promise<void> {
    const options = { preload: PROBE, ...(this.#node && { node: this.#node }) };
    this.#process = await startServer([`-config=${join(this.#folder, 'server.hcl')}`], `http://127.0.0.1:${this.#port}`, options);
    this.#meter = new Meter(this.#process.child, join(this.#folder, 'data'));
  }

  async #put(path: string, body: unknown): Promise<Record<string, unknown>> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/v1/sys/${path}`, { method: 'PUT', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`sys/${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  }
}
