import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, freePort, startServer, type ServerProcess } from '../server-process.ts';

/** The fields of answers that are read here. Which of them an answer has depends on the call. */
export interface AnswerBody {
  readonly root_token: string;
  readonly keys: string[];
  readonly recovery_keys: string[];
  readonly sealed: boolean;
  readonly migration: boolean;
  readonly fully_wrapped: boolean;
  readonly warnings: unknown;
  readonly data: {
    readonly nonce: string;
    readonly keys: string[];
    readonly verification_nonce: string;
    readonly complete: boolean;
    readonly value: string;
    readonly entries: unknown;
    readonly seals: readonly { readonly key_id: string }[];
  };
}

/** What a call was answered. */
export interface Answer {
  readonly status: number;
  readonly body: AnswerBody;
}

/** What a command did. */
export interface Said {
  readonly code: number;
  /** Both streams. */
  readonly text: string;
}

/** Keys of one `seal` block. */
export type SealBlock = Readonly<Record<string, string | number | boolean>>;

/** The type of a block, and its keys. */
export type NamedBlock = readonly [type: string, keys: SealBlock];

const PATIENCE = 30_000;

/** One store on LMDB, and the servers that are started on it one after the other, each with other seals: processes as operators start them. */
export class SealedProcess {
  readonly #folder: string;
  readonly #port: number;
  #process: ServerProcess | undefined;
  #log = '';
  token = '';

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  static async create(): Promise<SealedProcess> {
    return new SealedProcess(await mkdtemp(join(tmpdir(), 'strongroom-seals-')), await freePort());
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Everything that the servers wrote. */
  get log(): string {
    return this.#log;
  }

  /** Starts a server with these blocks, and waits until it answers. */
  async start(seals: readonly NamedBlock[] = [], env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#process = await startServer([`-config=${await this.#configure(seals)}`], this.address, {
      env: this.#environment(env),
      heard: (text) => (this.#log += text),
    });
  }

  /** Starts a server with these blocks, and kills it after so many milliseconds, wherever it is by then. */
  async startAndKill(seals: readonly NamedBlock[], millis: number): Promise<void> {
    const child = spawn(process.execPath, [command, 'server', `-config=${await this.#configure(seals)}`], {
      env: this.#environment({}),
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await new Promise((resolve) => setTimeout(resolve, millis));
    child.kill('SIGKILL');
    await ended;
  }

  async #configure(seals: readonly NamedBlock[]): Promise<string> {
    const config = join(this.#folder, 'server.json');
    const blocks = seals.map(([type, keys]) => ({ [type]: keys }));
    await writeFile(
      config,
      JSON.stringify({
        storage: { lmdb: { path: join(this.#folder, 'data') } },
        listener: { tcp: { address: `127.0.0.1:${this.#port}`, tls_disable: true } },
        ...(blocks.length > 0 ? { seal: blocks } : {}),
      }),
    );
    return config;
  }

  #environment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
    return { PATH: process.env['PATH'], HOME: this.#folder, ...more };
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async dispose(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** @throws what fetch throws when no server answers */
  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(`${this.address}/v1/${path}`, {
      method,
      headers: this.token === '' ? {} : { 'X-Vault-Token': this.token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as AnswerBody };
  }

  /** Runs the command line against the server. */
  async command(...words: readonly string[]): Promise<Said> {
    const env = { PATH: process.env['PATH'], HOME: this.#folder, STRONGROOM_ADDR: this.address, STRONGROOM_TOKEN: this.token };
    return new Promise((resolve) => {
      execFile(process.execPath, [command, ...words], { env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, text: stdout + stderr }),
      );
    });
  }

  /** Makes the keys, and keeps the root token. */
  async init(order: unknown): Promise<{ keys: string[]; recovery_keys: string[] }> {
    const { status, body } = await this.call('PUT', 'sys/init', order);
    if (status !== 200) throw new Error(`sys/init: ${status} ${JSON.stringify(body)}`);
    this.token = body.root_token;
    return body;
  }

  /** Waits until the server says so of itself; the process keeps the time. */
  async until(what: string, holds: (server: this) => Promise<boolean> | boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE;
    while (!(await holds(this))) {
      if (Date.now() > deadline) throw new Error(`it is not yet so that ${what}:\n${this.#log.slice(-4_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async untilOpen(): Promise<void> {
    await this.until('the server is open', async () => !(await this.call('GET', 'sys/seal-status')).body.sealed);
  }

  /** Waits until each enabled seal has wrapped, so that it opens the store alone. */
  async untilWrapped(): Promise<void> {
    await this.until('every seal has wrapped', async () => (await this.call('GET', 'sys/seal-backend-status')).body.fully_wrapped === true);
  }
}
