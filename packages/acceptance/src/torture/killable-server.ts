import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandForManyStarts, freePort, startServer, type ServerProcess } from '../server-process.ts';
import { RecoveryTimes } from './recovery-times.ts';

/** The server answered, and refused. */
export class CallRefused extends Error {
  readonly status: number;
  constructor(call: string, status: number, text: string) {
    super(`${call}: ${status} ${text.slice(0, 300)}`);
    this.status = status;
  }
}

/** What a server runs on, if not on a new folder and with a new key. */
export interface KillableOptions {
  /** The `storage` block: its type and what is in it. LMDB in a folder of its own by default. */
  readonly storage?: string;
  /** Another server whose store this one opens, or a copy of that: it has the same key and root token. */
  readonly like?: KillableServer;
}

/** A server on LMDB in a process of its own, which is killed and started again on the same store. It unseals by itself. */
export class KillableServer {
  readonly sealKey: Buffer;
  /** Of `dieDuring`: from SIGKILL until it is open again. */
  readonly recovery = new RecoveryTimes();
  readonly #folder: string;
  readonly #address: string;
  readonly #config: string;
  #process: ServerProcess | undefined;
  #token = '';

  private constructor(folder: string, port: number, sealKey: Buffer) {
    this.#folder = folder;
    this.sealKey = sealKey;
    this.#address = `http://127.0.0.1:${port}`;
    this.#config = join(folder, 'server.hcl');
  }

  /** A new store, initialized and open; or the store of another one. */
  static async start({ storage, like }: KillableOptions = {}): Promise<KillableServer> {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-killable-'));
    const server = new KillableServer(folder, await freePort(), like?.sealKey ?? randomBytes(32));
    await writeFile(
      server.#config,
      `storage ${storage ?? `"lmdb" { path = "${server.store}" }`}\n` +
        `listener "tcp" {\n  address = "${server.#address.slice('http://'.length)}"\n  tls_disable = true\n}\nlog_level = "error"\n` +
        `seal "static" {\n  current_key_id = "k1"\n  current_key = "${server.sealKey.toString('base64')}"\n}\n`,
    );
    await server.open();
    if (like) {
      server.#token = like.#token;
      return server;
    }
    const made = await server.call('PUT', 'sys/init', { recovery_shares: 1, recovery_threshold: 1 });
    server.#token = made['root_token'] as string;
    return server;
  }

  /** Where its records are, also when it has ended. */
  get store(): string {
    return join(this.#folder, 'data');
  }

  /** The next process on what is left. */
  async open(): Promise<void> {
    const server = (this.#process = await startServer([`-config=${this.#config}`], this.#address, {
      command: await commandForManyStarts(),
    }));
    const deadline = Date.now() + 20_000;
    for (;;) {
      const { status } = await fetch(`${this.#address}/v1/sys/health`);
      if (status === 200 || status === 501) return;
      if (Date.now() > deadline) throw new Error(`the server does not unseal: ${status} ${server.log()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  /** SIGKILL, and the next one on what is left. `work` is given up by then. */
  async dieDuring(work: readonly Promise<unknown>[], giveUp: () => void): Promise<void> {
    const ended = Promise.allSettled(work);
    const killed = performance.now();
    await this.#process!.kill();
    giveUp();
    await ended;
    await this.open();
    this.recovery.add(performance.now() - killed);
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  async dispose(): Promise<void> {
    await this.#process?.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Undefined where it fails. */
  async try(method: string, path: string, body?: unknown): Promise<Record<string, unknown> | undefined> {
    return this.call(method, path, body).catch(() => undefined);
  }

  /** How many leases of accounts that this path issued there are. */
  async leases(path: string): Promise<number> {
    const answer = await this.try('GET', `sys/leases/lookup/${path}?list=true`);
    return (answer?.['data'] as { keys: string[] } | undefined)?.keys.length ?? 0;
  }

  /** How many undos are pending. */
  async intents(): Promise<number> {
    const answer = await this.call('GET', 'sys/journal');
    return (answer['data'] as { intents: unknown[] }).intents.length;
  }

  /** The answer as it is; the body is sent as it is. @throws what fetch throws */
  async send(method: string, path: string, body: Uint8Array | undefined, signal: AbortSignal): Promise<Response> {
    return fetch(`${this.#address}/v1/${path}`, { method, headers: { 'X-Vault-Token': this.#token }, signal, ...(body ? { body } : {}) });
  }

  /** @throws CallRefused, and what fetch throws where there was no answer */
  async call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const answer = await fetch(`${this.#address}/v1/${path}`, {
      method,
      headers: this.#token === '' ? {} : { 'X-Vault-Token': this.#token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new CallRefused(`${method} ${path}`, answer.status, text);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  }
}
