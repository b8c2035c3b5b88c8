import { workersOf, writersOf } from '../child-processes.ts';
import { BenchServer } from './bench-server.ts';
import { CpuShare } from './cpu-share.ts';
import { load } from './load.ts';
import { mount, MOUNTS } from './mounts.ts';
import { fill, workloads, type WorkloadName } from './workloads.ts';

const MEASURED = ['kv write', 'kv read', 'lookup'] as const satisfies readonly WorkloadName[];

/** Seconds. */
const WARM_UP = 3;

export interface WorkersFigures {
  readonly name: WorkloadName;
  /** Medians of the rounds, in operations per second, for each number of workers. */
  readonly rates: readonly number[];
}

/**
 * The same load on servers with different numbers of workers, of which each process is held to a share of a core, so that two cores are enough for all of them and the load. Rounds
 * alternate: what else the machine does hits all servers. Before that, each server answers calls of each kind with all that the machine has, so that its code is compiled.
 */
export async function* workersCompared(
  counts: readonly number[],
  { share, seconds, rounds, connections }: { share: number; seconds: number; rounds: number; connections: number },
): AsyncGenerator<WorkersFigures> {
  const servers: BenchServer[] = [];
  const shares: CpuShare[] = [];
  try {
    for (const workers of counts) {
      const server = await BenchServer.start({ workers });
      servers.push(server);
      await mount(server.target, MOUNTS.secrets, 'kv', { version: '2' });
      await load('fill', server.target, fill(server.target.token), { count: 1_000 });
      for (const name of MEASURED) await load('warm up', server.target, workloads(server.target)[name], { seconds: WARM_UP, connections });
      for (const pid of await processesOf(server.target.pid, workers)) shares.push(new CpuShare(pid, share));
    }
    for (const name of MEASURED) {
      const rates: number[][] = servers.map(() => []);
      for (let round = 0; round < rounds; round += 1)
        for (const [at, { target }] of servers.entries())
          rates[at]!.push((await load(name, target, workloads(target)[name], { seconds, connections })).perSecond);
      yield { name, rates: rates.map(median) };
    }
  } finally {
    for (const server of servers) await server.stop();
    for (const one of shares) one.remove();
  }
}

/** Those that work: the workers, and the one that writes for them. */
async function processesOf(pid: number, workers: number): Promise<readonly number[]> {
  if (workers === 1) return [pid];
  const found = [...(await workersOf(pid)), ...(await writersOf(pid))];
  if (found.length !== workers + 1) throw new Error(`${found.length} of ${workers + 1} processes run`);
  return found;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
