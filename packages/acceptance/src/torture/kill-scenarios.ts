import { createCore } from '@strongroom/core';
import { databaseEngine } from '@strongroom/database';
import { mysqlPlugin } from '@strongroom/database-mysql';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { manualClock } from '@strongroom/engine-testkit';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { CallRefused, MortalServer } from './mortal-server.ts';
import type { TortureDatabase } from './torture-database.ts';

export const SCENARIOS = ['creation', 'revocation', 'rotation', 'rotate-root'] as const;
export type Scenario = (typeof SCENARIOS)[number];

export interface KillReport {
  readonly kills: number;
  /** Changes that were asked for and answered before a kill. */
  readonly acknowledged: number;
  /** Changes that a kill cut off. */
  readonly cutOff: number;
  /** What went wrong; empty when nothing did. */
  readonly problems: readonly string[];
}

interface Credential {
  readonly lease: string;
  readonly username: string;
  readonly password: string;
}

const WORKERS = 4;
const STATIC_ROLES = 6;
/** A revocation scenario begins each round with so many leases. */
const SUPPLY = 24;

/**
 * Kills a server with SIGKILL while it makes users, takes them away, rotates static roles or its own root password, again and again on the same
 * store. After each start: no user without a lease or a pending undo, no credential that was answered and does not log in, no role whose stored
 * password does not log in.
 */
export class KillScenarios {
  readonly #database: TortureDatabase;
  readonly #server: MortalServer;
  /** Answered, and not asked to go. */
  readonly #credentials = new Map<string, Credential>();
  readonly #problems: string[] = [];
  #answered: () => void = () => undefined;
  #acknowledged = 0;
  #cutOff = 0;

  private constructor(database: TortureDatabase, server: MortalServer) {
    this.#database = database;
    this.#server = server;
  }

  static async create(database: TortureDatabase): Promise<KillScenarios> {
    const server = await MortalServer.start();
    const run = new KillScenarios(database, server);
    await server.call('POST', 'sys/mounts/db', { type: 'database' });
    const main = database.connection(database.superuser, database.password);
    await server.call('POST', 'db/config/main', { ...main, allowed_roles: '*' });
    await server.call('POST', 'db/roles/app', { db_name: 'main', creation_statements: database.creation, default_ttl: '1h' });
    await database.makeAdministrator('boss', 'boss-pw-first');
    await server.call('POST', 'db/config/boss', { ...database.connection('boss', 'boss-pw-first'), allowed_roles: '*' });
    await server.call('POST', 'db/roles/of-boss', { db_name: 'boss', creation_statements: database.creation, default_ttl: '1h' });
    for (let i = 0; i < STATIC_ROLES; i += 1) {
      await database.makeUser(`fixed${i}`, 'of-old');
      await server.call('POST', `db/static-roles/fixed${i}`, { db_name: 'main', username: `fixed${i}`, rotation_period: '24h' });
    }
    return run;
  }

  /** Stops at the first round that finds a problem. */
  async run(scenario: Scenario, kills: number, random: () => number, told: (kill: number) => void = () => undefined): Promise<KillReport> {
    const before = { acknowledged: this.#acknowledged, cutOff: this.#cutOff };
    const found = this.#problems.length;
    let kill = 0;
    while (kill < kills && this.#problems.length === found) {
      kill += 1;
      if (scenario === 'revocation') await this.#supply();
      const stop = new AbortController();
      const work = Array.from({ length: WORKERS }, async (_, i) => this.#work(scenario, i, stop.signal));
      // Of a server that has just been started; every other one has answered once, since on a busy machine that takes longer than the random time.
      if (kill % 2 === 0) await Promise.race([new Promise<void>((resolve) => (this.#answered = resolve)), Promise.allSettled(work)]);
      // A change takes some milliseconds: every kill comes in the middle of several.
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.floor(random() * 120)));
      await this.#server.dieDuring(work, () => stop.abort());
      await this.#check(`${scenario} on ${this.#database.name}, kill ${kill}`, scenario);
      told(kill);
    }
    return {
      kills: kill,
      acknowledged: this.#acknowledged - before.acknowledged,
      cutOff: this.#cutOff - before.cutOff,
      problems: this.#problems.slice(found),
    };
  }

  /** The undos and all that is due, on the same store with a clock that is moved: then no user of a lease is left. Resolves with what is wrong. */
  async settle(): Promise<readonly string[]> {
    const problems: string[] = [];
    await this.#server.stop();
    const clock = manualClock(new Date());
    const core = await createCore({
      storage: await lmdbStorage({ path: this.#server.store }),
      plugins: [databaseEngine, postgresqlPlugin, mysqlPlugin],
      clock,
      seal: { type: 'static', key: this.#server.sealKey },
    });
    for (let minute = 0; minute < 130; minute += 1) {
      await clock.advance('1m');
      await core.settleSchedule();
    }
    const users = await this.#database.users();
    if (users.length > 0) problems.push(`${users.length} users are left on ${this.#database.name} when every lease and undo is through`);
    await core.close();
    return problems;
  }

  async dispose(): Promise<void> {
    await this.#server.dispose();
  }

  async #work(scenario: Scenario, worker: number, stop: AbortSignal): Promise<void> {
    for (let i = worker; !stop.aborted; i += WORKERS) {
      try {
        if (!(await this.#change(scenario, i, stop))) return;
        this.#acknowledged += 1;
        this.#answered();
      } catch (error) {
        // Two rotations of one thing are one, and who comes second is told so.
        if (error instanceof CallRefused && error.status === 429) continue;
        if (error instanceof CallRefused) this.#problems.push(String(error));
        else this.#cutOff += 1;
        return;
      }
    }
  }

  /** One change, until it is answered. False where nothing is left to do. */
  async #change(scenario: Scenario, i: number, stop: AbortSignal): Promise<boolean> {
    switch (scenario) {
      case 'creation':
        this.#keep(await this.#server.call('GET', 'db/creds/app', undefined, stop));
        return true;
      case 'revocation': {
        const [one] = this.#credentials.values();
        if (!one) return false;
        // What is asked to go may be gone or not after a kill, but never half.
        this.#credentials.delete(one.lease);
        await this.#server.call('PUT', 'sys/leases/revoke', { lease_id: one.lease, sync: true }, stop);
        return true;
      }
      case 'rotation':
        await this.#server.call('POST', `db/rotate-role/fixed${i % STATIC_ROLES}`, {}, stop);
        return true;
      case 'rotate-root':
        await this.#server.call('POST', 'db/rotate-root/boss', {}, stop);
        return true;
    }
  }

  async #supply(): Promise<void> {
    const missing = Math.max(0, SUPPLY - this.#credentials.size);
    await Promise.all(Array.from({ length: missing }, async () => this.#keep(await this.#server.call('GET', 'db/creds/app'))));
  }

  #keep(answer: Record<string, unknown>): void {
    const { username, password } = answer['data'] as { username: string; password: string };
    const lease = answer['lease_id'] as string;
    this.#credentials.set(lease, { lease, username, password });
  }

  async #check(when: string, scenario: Scenario): Promise<void> {
    const problem = (text: string): void => void this.#problems.push(`${when}: ${text}`);
    if (scenario === 'creation' || scenario === 'revocation') {
      for (const one of [...this.#credentials.values()].slice(-8)) {
        if (!(await this.#server.try('PUT', 'sys/leases/lookup', { lease_id: one.lease }))) problem(`the lease ${one.lease} is missing`);
        await this.#database.login(one.username, one.password).catch(() => problem(`${one.username} cannot log in`));
      }
      // Counted in this order the sum can only be too high: what ends meanwhile is no problem.
      const users = (await this.#database.users()).length;
      const known = (await this.#leases('app')) + (await this.#leases('of-boss')) + (await this.#intents());
      if (users > known) problem(`${users} users, but ${known} leases and pending undos`);
    } else if (scenario === 'rotation') {
      for (let i = 0; i < STATIC_ROLES; i += 1) {
        const answer = await this.#server.call('GET', `db/static-creds/fixed${i}`);
        const { password } = answer['data'] as { password: string };
        await this.#database.login(`fixed${i}`, password).catch(() => problem(`the stored password of fixed${i} does not log in`));
      }
    } else {
      const answer = await this.#server.try('GET', 'db/creds/of-boss');
      if (!answer) problem('the stored root password does not log in');
    }
  }

  async #leases(role: string): Promise<number> {
    const answer = await this.#server.try('GET', `sys/leases/lookup/db/creds/${role}?list=true`);
    return (answer?.['data'] as { keys: string[] } | undefined)?.keys.length ?? 0;
  }

  async #intents(): Promise<number> {
    const answer = await this.#server.call('GET', 'sys/journal');
    return (answer['data'] as { intents: unknown[] }).intents.length;
  }
}
