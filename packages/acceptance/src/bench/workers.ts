import { BenchServer } from './bench-server.ts';
import { CpuShare } from './cpu-share.ts';
import { load } from './load.ts';
import { mount, MOUNTS } from './mounts.ts';
import { childrenOf } from './process-usage.ts';
import { fill, workloads, type WorkloadName } from './workloads.ts';

const MEASURED = ['kv write', 'kv read', 'lookup'] as const satisfies readonly WorkloadName[];

export interface WorkersFigures {
  readonly name: WorkloadName;
  /** Medians of the rounds, in operations per second, for each number of workers. */
  readonly rates: readonly number[];
}

/**
 * The same load on servers with different numbers of workers, of which each is held to a share of a core, so that two cores are enough for all of them and the load. Rounds
 * alternate: what else the machine does hits all servers.
 */
export async function* workersCompared(
  counts: readonly number[],
  { share, seconds, rounds }: { share: number; seconds: number; rounds: number },
): AsyncGenerator<WorkersFigures> {
  const servers: BenchServer[] = [];
  const shares: CpuShare[] = [];
  try {
    for (const workers of counts) {
      const server = await BenchServer.start({ workers });
      servers.push(server);
      await mount(server.target, MOUNTS.secrets, 'kv', { version: '2' });
      await load('fill', server.target, fill(server.target.token), { count: 1_000 });
      const pids = workers === 1 ? [server.target.pid] : childrenOf(server.target.pid);
      if (pids.length !== workers) throw new Error(`${pids.length} of ${workers} workers run`);
      for (const pid of pids) shares.push(new CpuShare(pid, share));
    }
    for (const name of MEASURED) {
      const rates: number[][] = servers.map(() => []);
      for (let round = 0; round < rounds; round += 1)
        for (const [at, { target }] of servers.entries())
          rates[at]!.push((await load(name, target, workloads(target)[name], { seconds })).perSecond);
      yield { name, rates: rates.map(median) };
    }
  } finally {
    for (const server of servers) await server.stop();
    for (const one of shares) one.remove();
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
