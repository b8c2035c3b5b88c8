import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { command } from '../server-process.ts';
import { KillableServer } from './killable-server.ts';

const KEYS = 300;
const VALUE = 'x'.repeat(20_000);

/** What went wrong; `problems` is empty when nothing did. */
export interface MigrationReport {
  readonly kills: number;
  /** Migrations that were killed before they had ended. */
  readonly cutOff: number;
  readonly problems: readonly string[];
}

/**
 * Kills `operator migrate` with SIGKILL, from LMDB to PostgreSQL and back, each time into another empty store. After each kill the source opens and has everything; then the
 * migration goes on from the beginning, or the destination had everything already: it opens, and has everything.
 */
export class MigrationKills {
  readonly #postgres: PostgresServer;
  readonly #folder: string;
  readonly #problems: string[] = [];
  #sources: readonly { readonly block: string; readonly like: KillableServer }[] = [];
  #cutOff = 0;
  /** Milliseconds that the last one took that was not killed. */
  #takes = 5_000;

  private constructor(postgres: PostgresServer, folder: string) {
    this.#postgres = postgres;
    this.#folder = folder;
  }

  static async create(): Promise<MigrationKills> {
    const run = new MigrationKills(await startPostgres({}), await mkdtemp(join(tmpdir(), 'strongroom-migrations-')));
    const block = run.#lmdb('first');
    const like = await KillableServer.start({ storage: block });
    await like.call('POST', 'sys/mounts/kv', { type: 'kv' });
    await each(async (i) => like.call('PUT', `kv/k${i}`, { value: VALUE, i }));
    await like.stop();
    const other = await run.#database('first');
    const began = performance.now();
    await run.#migrate(block, other);
    run.#takes = performance.now() - began;
    run.#sources = [block, other].map((source) => ({ block: source, like }));
    return run;
  }

  async run(kills: number, random: () => number): Promise<MigrationReport> {
    for (let round = 0; round < kills && this.#problems.length === 0; round += 1) {
      const { block: source, like } = this.#sources[round % 2]!;
      const destination = round % 2 === 0 ? await this.#database(`m${round}`) : this.#lmdb(`m${round}`);
      // The longest part of it is a wait, in which nothing can go wrong.
      const ended = await this.#migrate(source, destination, this.#takes * (0.5 + random() * 0.6));
      if (!ended) {
        this.#cutOff += 1;
        await this.#reset(source, destination);
        await this.#expect(`round ${round}: the source`, source, like);
        await this.#migrate(source, destination).catch((error: unknown) => {
          if (!String(error).includes('the destination is not empty')) this.#problems.push(`round ${round}: ${String(error)}`);
        });
      }
      await this.#expect(`round ${round}: the destination`, destination, like);
    }
    return { kills, cutOff: this.#cutOff, problems: this.#problems };
  }

  async dispose(): Promise<void> {
    for (const { like } of this.#sources.slice(0, 1)) await like.dispose();
    await this.#postgres.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #lmdb(name: string): string {
    return `"lmdb" { path = ${JSON.stringify(join(this.#folder, name))} }`;
  }

  async #database(name: string): Promise<string> {
    await this.#postgres.query(`CREATE DATABASE ${name}`);
    const { superuser, password, port } = this.#postgres;
    return `"postgresql" { connection_url = "postgresql://${superuser}:${password}@127.0.0.1:${port}/${name}?sslmode=disable" }`;
  }

  /** False where it was killed. @throws Error with what it said, where it failed */
  async #migrate(source: string, destination: string, killAfter?: number): Promise<boolean> {
    return this.#operator(await this.#config(source, destination), [], killAfter);
  }

  async #reset(source: string, destination: string): Promise<void> {
    await this.#operator(await this.#config(source, destination), ['-reset']);
  }

  async #config(source: string, destination: string): Promise<string> {
    const file = join(this.#folder, 'migrate.hcl');
    await writeFile(file, `storage_source ${source}\nstorage_destination ${destination}\n`);
    return file;
  }

  async #operator(config: string, words: readonly string[], killAfter?: number): Promise<boolean> {
    const child = spawn(process.execPath, [command, 'operator', 'migrate', `-config=${config}`, ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter);
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.on('close', (...end: [number | null, string | null]) => resolve(end)),
    );
    clearTimeout(timer);
    if (signal === 'SIGKILL') return false;
    if (code !== 0) throw new Error(`operator migrate ended with ${code ?? signal}: ${said}`);
    return true;
  }

  /** A server opens on the store, and finds every secret. */
  async #expect(what: string, storage: string, like: KillableServer): Promise<void> {
    const server = await KillableServer.start({ storage, like });
    let lost = 0;
    try {
      await each(async (i) => {
        const answer = await server.try('GET', `kv/k${i}`);
        if ((answer?.['data'] as { i?: number } | undefined)?.i !== i) lost += 1;
      });
    } finally {
      await server.stop();
      await server.dispose();
    }
    if (lost > 0) this.#problems.push(`${what} has lost ${lost} secrets`);
  }
}

async function each(work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < KEYS; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
