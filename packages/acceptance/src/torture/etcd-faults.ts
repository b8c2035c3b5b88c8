import { setTimeout as delay } from 'node:timers/promises';
import { startEtcd, type EtcdCluster, type EtcdMember } from '@strongroom/lab';
import { etcdStorage } from '@strongroom/storage-etcd';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { StorageLoad } from './storage-load.ts';

const FAULTS = ['killed', 'frozen', 'cut off'] as const;
/** Successes of each kind that show that the store goes on. */
const ENOUGH = 50;
const TOO_LONG_MS = 30_000;

/** What faults of the members did to the store. */
export interface EtcdFaultReport {
  readonly faults: number;
  readonly writes: number;
  readonly reads: number;
  /** Commits whose outcome was reported as unknown. */
  readonly unknown: number;
  /** The longest time without a read or without a write, in milliseconds. */
  readonly longestGap: number;
  readonly problems: readonly string[];
}

/** Two drivers under load on three members, one of which is killed, frozen or cut off from the others, again and again. */
export class EtcdFaults {
  readonly #etcd: EtcdCluster;
  readonly #drivers: readonly StorageDriver[];

  private constructor(etcd: EtcdCluster, drivers: readonly StorageDriver[]) {
    this.#etcd = etcd;
    this.#drivers = drivers;
  }

  static async create(): Promise<EtcdFaults> {
    const etcd = await startEtcd({ members: 3 });
    const { endpoints } = etcd;
    return new EtcdFaults(etcd, [await etcdStorage({ endpoints }), await etcdStorage({ endpoints })]);
  }

  /** `faults` of them in turn; every second one hits the leader, the others any member. */
  async run(faults: number, random: () => number): Promise<EtcdFaultReport> {
    const load = new StorageLoad(this.#drivers);
    const problems: string[] = [];
    let longestGap = 0;
    load.start();
    try {
      await goesOn(load);
      load.takeGap();
      for (let i = 0; i < faults; i++) {
        const member = i % 2 ? this.#etcd.members[Math.floor(random() * 3)]! : await this.#etcd.leader();
        const fault = FAULTS[i % FAULTS.length]!;
        await this.#during(member, fault, async () => goesOn(load));
        await goesOn(load);
        longestGap = Math.max(longestGap, load.takeGap());
      }
    } catch (error) {
      problems.push(`etcd: ${(error as Error).message}`);
    } finally {
      await load.stop();
    }
    problems.push(...(await load.lost(this.#drivers[0]!)).map((what) => `etcd: lost: ${what}`), ...load.stale);
    return { faults, writes: load.writes, reads: load.reads, unknown: load.unknown, longestGap, problems };
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#drivers.map((driver) => driver.close()));
    await this.#etcd.stop();
  }

  async #during(member: EtcdMember, fault: (typeof FAULTS)[number], work: () => Promise<void>): Promise<void> {
    switch (fault) {
      case 'killed':
        await member.kill();
        await work();
        return member.start();
      case 'frozen':
        member.freeze();
        await work();
        return member.thaw();
      case 'cut off':
        await this.#etcd.leader();
        await member.isolate();
        await work();
        return member.heal();
    }
  }
}

async function goesOn(load: StorageLoad): Promise<void> {
  const { writes, reads } = load;
  const end = performance.now() + TOO_LONG_MS;
  while (load.writes < writes + ENOUGH || load.reads < reads + ENOUGH) {
    if (performance.now() > end) throw new Error(`nothing went on for ${TOO_LONG_MS} ms: ${[...load.failures.keys()].join('; ')}`);
    await delay(20);
  }
}
