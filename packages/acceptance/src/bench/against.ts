import type { Target } from './load.ts';
import type { Usage } from './meter.ts';
import type { Peer } from './peer.ts';
import { cpuMicros } from './process-usage.ts';
import { alternate, type Median, type RoundOptions } from './rounds.ts';

export interface Comparison {
  readonly name: string;
  /** Medians of the rounds. */
  readonly ours: Median;
  /** `cpuMicros` is undefined where the process is not known. */
  readonly theirs: Pick<Median, 'perSecond'> & { readonly cpuMicros: number | undefined };
}

/** Drives our server and a peer with the same load. */
export async function* compare(ours: Target, peer: Peer, options: RoundOptions): AsyncGenerator<Comparison> {
  for await (const { name, medians } of alternate([ours, targetOf(peer)], options)) {
    const theirs = medians[1]!;
    yield { name, ours: medians[0]!, theirs: { ...theirs, cpuMicros: peer.pid === undefined ? undefined : theirs.cpuMicros } };
  }
}

function targetOf({ address, token, pid }: Peer): Target {
  return {
    host: address.hostname,
    port: Number(address.port || 80),
    token,
    pid: pid ?? process.pid,
    meter: { read: async () => usageOf(pid) },
  };
}

/** Only the CPU time of a program that is not ours can be read. */
function usageOf(pid: number | undefined): Usage {
  return { cpuMicros: pid === undefined ? 0 : cpuMicros(pid), mainMicros: 0, gcMicros: 0, transactions: 0 };
}
