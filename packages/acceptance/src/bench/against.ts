import { WrongArgument } from '../arguments.ts';
import type { Target } from './load.ts';
import type { Usage } from './meter.ts';
import { cpuMicros } from './process-usage.ts';
import { alternate, type Median, type RoundOptions } from './rounds.ts';

export interface Comparison {
  readonly name: string;
  /** Medians of the rounds. */
  readonly ours: Median;
  /** `cpuMicros` is undefined where the process is not known. */
  readonly theirs: Pick<Median, 'perSecond'> & { readonly cpuMicros: number | undefined };
}

/** A server of the same API that somebody else has started. It must be empty, and answer without TLS: encryption would be measured too. */
export interface Peer {
  readonly address: URL;
  readonly token: string;
  /** Its process, where it runs on this machine: for its CPU time. */
  readonly pid: number | undefined;
}

/** @throws WrongArgument unless a server answers there, and the process is one of this machine */
export async function requirePeer({ address, pid }: Peer): Promise<void> {
  await fetch(new URL('/v1/sys/health', address)).catch((error: Error) => {
    throw new WrongArgument(`--against: no server answers at ${address.origin}: ${String(error.cause ?? error)}`);
  });
  if (pid !== undefined && cpuMicros(pid) === 0)
    throw new WrongArgument(`--pid: no process ${pid} has used the CPU of this machine; name that of the server at ${address.origin}`);
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
