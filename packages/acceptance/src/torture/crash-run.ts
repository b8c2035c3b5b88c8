import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCore } from '@strongroom/core';
import { databaseEngine } from '@strongroom/database';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { manualClock } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import type { PostgresServer } from '@strongroom/lab';
import { childrenOf, workersOf } from '../child-processes.ts';
import { commandForManyStarts, freePort, startServer, type ServerProcess } from '../server-process.ts';
import type { CrashStore } from './crash-store.ts';
import { CallRefused } from './killable-server.ts';
import { LOST_PAGES_TEXT, type PageReport } from './lmdb-pages.ts';
import { RecoveryTimes } from './recovery-times.ts';

/** What went wrong; empty when nothing did. */
export interface CrashReport {
  /** All of them, and those of one worker alone. */
  readonly kills: number;
  readonly workerKills: number;
  /** Of the store, at the same time as a kill: how often each struck. */
  readonly faults: ReadonlyMap<string, number>;
  readonly writes: number;
  readonly credentials: number;
  /** Acknowledged writes that were missing. */
  readonly lost: number;
  /** Users that had neither a lease nor a pending undo, after any kill. */
  readonly orphans: number;
  /** Users that are left when every undo is through. */
  readonly left: number;
  /** Starts that the server gave up, and why: what supervises it would start it again. */
  readonly givenUp: readonly string[];
  /** From SIGKILL until the server is open, also where that took several starts. */
  readonly recovery: RecoveryTimes;
  /** Of the store, where it is a file of LMDB, at the end. */
  readonly pages: PageReport | undefined;
  /** How often the server printed that lmdb lost free pages. */
  readonly lostPages: number;
  readonly problems: readonly string[];
}

export interface CrashRunOptions {
  readonly random?: () => number;
  /** One kill in so many comes with a fault of the store, where there are any; 4 by default. */
  readonly faultEvery?: number;
  /** After each kill. */
  readonly told?: (kill: number, recovery: RecoveryTimes) => void;
}

export const WRITES_A_ROUND = 10;
/** Milliseconds after which a round ends that answered nothing. */
const LONGEST_ROUND = 20_000;
/** Milliseconds until the server must be open, however slow the machine is. */
const LONGEST_START = 240_000;
/** Milliseconds for which a read is tried again that was not answered: only what the store does not have is missing. */
const PATIENCE = 15_000;
/** Reads at a time. */
const READERS = 8;

interface Credential {
  readonly lease: string;
  readonly username: string;
  readonly password: string;
}

const CREATION = `CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`;

/**
 * Kills a server with SIGKILL at random moments under load, again and again on the same store, and looks after each start: no
 * acknowledged write is missing, no PostgreSQL user exists without a lease or a pending undo, and it starts every time, also while a member of the store is down.
 * Of a server with workers, every second kill is that of one worker, and the others go on.
 */
export class CrashRun {
  readonly #postgres: PostgresServer;
  readonly #store: CrashStore;
  readonly #folder: string;
  readonly #address: string;
  readonly #config: string;
  readonly #sealKey = randomBytes(32);
  readonly #secrets = new Map<string, string>();
  readonly #credentials = new Map<string, Credential>();
  readonly #problems: string[] = [];
  readonly #recovery = new RecoveryTimes();
  #token = '';
  #writes = 0;
  readonly #faults = new Map<string, number>();
  #struck = 0;
  #workerKills = 0;
  #lost = 0;
  #orphans = 0;
  readonly #givenUp: string[] = [];
  #lostPages = 0;
  /** The end of what the server wrote: a text may come in two parts. */
  #heard = '';
  #left = 0;

  private constructor(postgres: PostgresServer, store: CrashStore, folder: string, port: number) {
    this.#postgres = postgres;
    this.#store = store;
    this.#folder = folder;
    this.#address = `http://127.0.0.1:${port}`;
    this.#config = join(folder, 'server.hcl');
  }

  /** `postgres` is the database that users are made in. */
  static async create(postgres: PostgresServer, store: CrashStore): Promise<CrashRun> {
    const run = new CrashRun(postgres, store, await mkdtemp(join(tmpdir(), 'strongroom-crash-')), await freePort());
    await writeFile(
      run.#config,
      `storage ${store.stanza}\nworkers = ${store.workers}\n` +
        `listener "tcp" {\n  address = "${run.#address.slice('http://'.length)}"\n  tls_disable = true\n}\nlog_level = "error"\n` +
        `seal "static" {\n  current_key_id = "k1"\n  current_key = "${run.#sealKey.toString('base64')}"\n}\n`,
    );
    return run;
  }

  /** Stops at the first round that finds a problem. */
  async run(rounds: number, { random = Math.random, faultEvery = 4, told }: CrashRunOptions = {}): Promise<CrashReport> {
    let server = await this.#start();
    await this.#prepare();
    let round = 0;
    while (round < rounds && this.#problems.length === 0) {
      round += 1;
      const stop = new AbortController();
      // Watched from the start: the server may die under them before they are waited for.
      const load = Promise.allSettled([
        ...[0, 1, 2, 3].map(async (i) => this.#writer(round, i, stop.signal)),
        ...[0, 1].map(async () => this.#borrower(stop.signal)),
      ]);
      await wait(50 + Math.floor(random() * 350));
      const alone = this.#store.workers > 1 && round % 2 === 0;
      const faulty = round % faultEvery === 0 && this.#store.faults.length > 0;
      // Every other round, and all in which more than the server is struck, go on until something was answered, however slow the machine is.
      if (round % 2 === 1 || alone || faulty) await this.#answered(WRITES_A_ROUND);
      const mend = faulty ? await this.#strike() : undefined;
      // A fault meets some calls before the kill, and some only with it.
      if (mend) await wait(Math.floor(random() * 300));
      const killed = performance.now();
      const open = alone ? await this.#killWorker(server, random) : await this.#killServer(server);
      stop.abort();
      await load;
      server = await open();
      this.#recovery.add(performance.now() - killed);
      await this.#check(round, [...this.#secrets].slice(-400));
      await mend?.();
      told?.(round, this.#recovery);
    }
    await this.#check(round, this.#secrets);
    await this.#revokeAll();
    await server.stop();
    await this.#settle();
    const pages = this.#store.pages?.();
    this.#problems.push(...(pages?.problems ?? []));
    return {
      kills: round,
      workerKills: this.#workerKills,
      faults: this.#faults,
      writes: this.#writes,
      credentials: this.#credentials.size,
      lost: this.#lost,
      orphans: this.#orphans,
      givenUp: this.#givenUp,
      left: this.#left,
      recovery: this.#recovery,
      pages,
      lostPages: this.#lostPages,
      problems: this.#problems,
    };
  }

  async dispose(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** @throws Error where it is not open in time */
  async #start(): Promise<ServerProcess> {
    const options = { command: await commandForManyStarts(), patience: LONGEST_START, heard: (text: string) => this.#listen(text) };
    return this.#patiently(async () => {
      const server = await startServer([`-config=${this.#config}`], this.#address, options);
      await this.#opened(server).catch(async (error: unknown) => {
        await server.kill();
        throw error;
      });
      return server;
    });
  }

  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    for (const end = performance.now() + LONGEST_START; ;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > end) throw error;
        this.#givenUp.push((error as Error).message);
      }
    }
  }

  /** Waits until the server serves with all its workers. @throws Error where it does not come to that */
  async #opened(server: ServerProcess): Promise<void> {
    const { workers: count } = this.#store;
    for (const end = performance.now() + LONGEST_START; ; await wait(20)) {
      const answer = await fetch(`${this.#address}/v1/sys/health`).catch(() => undefined);
      const { workers } = ((await answer?.json().catch(() => undefined)) ?? {}) as { workers?: { running: number } };
      const open = answer?.status === 200 || answer?.status === 501;
      if (open && (count === 1 || workers?.running === count)) return;
      if (server.ended() !== undefined || performance.now() > end)
        throw new Error(`the server does not unseal: ${answer?.status} ${server.log()}`);
    }
  }

  /** Resolves, once it is dead, with what starts the next one. */
  async #killServer(server: ServerProcess): Promise<() => Promise<ServerProcess>> {
    await server.kill();
    return async () => this.#start();
  }

  /** The same for one worker, whose place the server fills by itself, or for the process that writes for them, which may take a while to come back. */
  async #killWorker(server: ServerProcess, random: () => number): Promise<() => Promise<ServerProcess>> {
    const before = await workersOf(server.pid);
    const victims = await childrenOf(server.pid);
    const victim = victims[Math.floor(random() * victims.length)]!;
    process.kill(victim, 'SIGKILL');
    this.#workerKills += 1;
    return async () => {
      for (let now = before; now.length < before.length || now.includes(victim); now = await workersOf(server.pid)) await wait(20);
      await this.#opened(server);
      return server;
    };
  }

  /** What is wrong with the store from now on. Resolves with what mends it. */
  async #strike(): Promise<() => Promise<void>> {
    const { faults } = this.#store;
    const fault = faults[this.#struck % faults.length]!;
    this.#struck += 1;
    const mend = await fault.strike();
    this.#faults.set(fault.name, (this.#faults.get(fault.name) ?? 0) + 1);
    return mend;
  }

  #listen(text: string): void {
    const heard = this.#heard + text;
    this.#lostPages += heard.split(LOST_PAGES_TEXT).length - 1;
    this.#heard = heard.slice(1 - LOST_PAGES_TEXT.length);
  }

  async #prepare(): Promise<void> {
    const made = await this.#call('PUT', 'sys/init', { recovery_shares: 1, recovery_threshold: 1 });
    this.#token = made['root_token'] as string;
    await this.#call('POST', 'sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    await this.#call('POST', 'sys/mounts/db', { type: 'database' });
    await this.#call('POST', 'db/config/pg', {
      plugin_name: 'postgresql-database-plugin',
      allowed_roles: '*',
      connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${this.#postgres.port}/postgres?sslmode=disable`,
      username: this.#postgres.superuser,
      password: this.#postgres.password,
    });
    await this.#call('POST', 'db/roles/app', { db_name: 'pg', creation_statements: [CREATION], default_ttl: '240h' });
  }

  async #writer(round: number, writer: number, stop: AbortSignal): Promise<void> {
    for (let i = 0; !stop.aborted; i += 1) {
      const path = `r${round}/w${writer}/${i}`;
      const value = randomBytes(8).toString('hex');
      // Only what was answered counts; a fault of the store is not the end of the load.
      if (!(await this.#answer('POST', `secret/data/${path}`, { data: { value } }, stop))) continue;
      this.#secrets.set(path, value);
      this.#writes += 1;
    }
  }

  /** Waits until so many more writes were answered. */
  async #answered(count: number): Promise<void> {
    const wanted = this.#writes + count;
    for (let waited = 0; this.#writes < wanted && waited < LONGEST_ROUND; waited += 10) await wait(10);
  }

  async #borrower(stop: AbortSignal): Promise<void> {
    for (let i = 0; !stop.aborted; i += 1) {
      const answer = (await this.#answer('GET', 'db/creds/app', undefined, stop)) as
        | { lease_id: string; data: { username: string; password: string } }
        | undefined;
      if (!answer) continue;
      const one = { lease: answer.lease_id, ...answer.data };
      this.#credentials.set(one.lease, one);
      if (i % 3 !== 2) continue;
      // A revocation under way may be cut short too: what is asked to go may be gone or not, but never half.
      this.#credentials.delete(one.lease);
      await this.#answer('PUT', 'sys/leases/revoke', { lease_id: one.lease }, stop);
    }
  }

  /** Undefined, after a moment, where the call failed. */
  async #answer(method: string, path: string, body: unknown, stop: AbortSignal): Promise<Record<string, unknown> | undefined> {
    try {
      return await this.#call(method, path, body, stop);
    } catch {
      await wait(20);
      return undefined;
    }
  }

  async #check(round: number, secrets: Iterable<readonly [string, string]>): Promise<void> {
    const left = secrets[Symbol.iterator]();
    const reader = async (): Promise<void> => {
      for (let next = left.next(); !next.done; next = left.next()) await this.#expect(round, next.value);
    };
    await Promise.all(Array.from({ length: READERS }, reader));
    for (const one of [...this.#credentials.values()].slice(-20)) {
      if (!(await this.#read('PUT', 'sys/leases/lookup', { lease_id: one.lease })))
        this.#problems.push(`round ${round}: the lease ${one.lease} is missing`);
      await this.#postgres
        .login(one.username, one.password)
        .catch(() => this.#problems.push(`round ${round}: ${one.username} cannot log in`));
    }
    // A lease that began meanwhile is counted after the users: the sum can only be too high, never too low.
    const users = await this.#users();
    const known = (await this.#leases()) + (await this.#intents());
    if (users <= known) return;
    this.#orphans += users - known;
    this.#problems.push(`round ${round}: ${users} users in PostgreSQL, but ${known} leases and pending undos`);
  }

  async #expect(round: number, [path, value]: readonly [string, string]): Promise<void> {
    const read = await this.#read('GET', `secret/data/${path}`);
    const found = (read?.['data'] as { data?: { value?: string } } | undefined)?.data?.value;
    if (found === value) return;
    this.#lost += 1;
    this.#problems.push(`round ${round}: the acknowledged write ${path} is missing`);
  }

  async #revokeAll(): Promise<void> {
    await this.#call('PUT', 'sys/leases/revoke-prefix/db/creds/app', {});
    const users = await this.#users();
    const intents = await this.#intents();
    if (users > intents) this.#problems.push(`after revoking all leases ${users} users are left, but only ${intents} undos are pending`);
  }

  /** The undos, on the same store with a clock that is moved: when they are through, no user is left. */
  async #settle(): Promise<void> {
    const clock = manualClock(new Date());
    const core = await createCore({
      storage: await this.#patiently(async () => this.#store.open()),
      plugins: [databaseEngine, postgresqlPlugin, kvEngine],
      clock,
      seal: { type: 'static', key: this.#sealKey },
    });
    await clock.advance('2h');
    await core.settleSchedule();
    await clock.advance('241h');
    await core.settleSchedule();
    this.#left = await this.#users();
    if (this.#left > 0) this.#problems.push(`${this.#left} users are left when every undo is through`);
    await core.close();
  }

  async #users(): Promise<number> {
    const [row] = await this.#postgres.query<{ count: string }>(`SELECT count(*) FROM pg_roles WHERE rolname LIKE 'v-%'`);
    return Number(row?.count ?? 0);
  }

  async #leases(): Promise<number> {
    const answer = await this.#read('GET', 'sys/leases/lookup/db/creds/app?list=true');
    return (answer?.['data'] as { keys: string[] } | undefined)?.keys.length ?? 0;
  }

  async #intents(): Promise<number> {
    const answer = await this.#read('GET', 'sys/journal');
    return (answer!['data'] as { intents: unknown[] }).intents.length;
  }

  /** Undefined where the server says that there is none. @throws Error where it answers nothing else for too long */
  async #read(method: string, path: string, body?: unknown): Promise<Record<string, unknown> | undefined> {
    for (const end = performance.now() + PATIENCE; ; await wait(50)) {
      try {
        return await this.#call(method, path, body);
      } catch (error) {
        if (error instanceof CallRefused && error.status < 500) return undefined;
        if (performance.now() > end) throw error;
      }
    }
  }

  async #call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Record<string, unknown>> {
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

async function wait(millis: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, millis));
}
