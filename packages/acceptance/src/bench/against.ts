import { slapdMissing } from '@strongroom/lab';
import type { ComparedLoad } from './compared-load.ts';
import { comparedCredentials } from './database.ts';
import { comparedAccounts } from './ldap-secrets.ts';
import { load, once, type Figures, type Operation, type Target } from './load.ts';
import type { Usage } from './meter.ts';
import { comparedLogins } from './login.ts';
import { cpuMicros } from './process-usage.ts';
import { fill, workloads } from './workloads.ts';

export interface Comparison {
  readonly name: string;
  /** Medians of the rounds. */
  readonly ours: Median;
  readonly theirs: Median;
}

export interface Median {
  readonly perSecond: number;
  /** undefined where the process is not known. */
  readonly cpuMicros: number | undefined;
}

/** A server of the same API that somebody else has started. */
export interface Peer {
  readonly address: URL;
  readonly token: string;
  /** Its process, where it runs on this machine: for its CPU time. */
  readonly pid: number | undefined;
}

const secrets: ComparedLoad = async (targets) => {
  for (const target of targets) {
    await once(target, 'POST', '/v1/sys/mounts/bench', { type: 'kv', options: { version: '2' } });
    await load('fill', target, fill(target.token), { count: 1_000 });
  }
  const one =
    (name: 'lookup' | 'kv read' | 'kv write' | 'token create') =>
    (target: Target): Operation =>
      workloads(target)[name];
  return {
    operations: { lookup: one('lookup'), 'kv read': one('kv read'), 'kv write': one('kv write'), 'token create': one('token create') },
    stop: async () => {
      for (const target of targets) await once(target, 'DELETE', '/v1/sys/mounts/bench');
    },
  };
};

/**
 * Drives our server and a peer with the same load in alternating rounds: what else the machine does then hits both. The peer must be empty: mounts are
 * made at `bench`, `ldap`, `database` and `auth/ldap`.
 */
export async function* compare(
  ours: Target,
  peer: Peer,
  { seconds, rounds, only }: { seconds: number; rounds: number; only: string | undefined },
): AsyncGenerator<Comparison> {
  const theirs = targetOf(peer);
  for (const start of [secrets, ...(slapdMissing === undefined ? [comparedLogins, comparedAccounts] : []), comparedCredentials]) {
    const { operations, stop } = await start([ours, theirs]);
    try {
      for (const [name, operation] of Object.entries(operations)) {
        if (only !== undefined && !name.includes(only)) continue;
        const figures: [Figures[], Figures[]] = [[], []];
        const sides = [ours, theirs].map((target) => ({ target, work: operation(target) }));
        for (const { target, work } of sides) await load('warm up', target, work, { seconds: 2 });
        for (let round = 0; round < rounds; round += 1) {
          for (const [side, { target, work }] of sides.entries()) figures[side]!.push(await load(name, target, work, { seconds }));
        }
        yield { name, ours: medianOf(figures[0]), theirs: medianOf(figures[1], peer.pid !== undefined) };
      }
    } finally {
      await stop();
    }
  }
}

function targetOf({ address, token, pid }: Peer): Target {
  if (address.protocol !== 'http:') throw new Error('--against must be an http:// URL: encryption would be measured too');
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

function medianOf(figures: readonly Figures[], known = true): Median {
  const middle = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
  return {
    perSecond: middle(figures.map(({ perSecond }) => perSecond)),
    cpuMicros: known ? middle(figures.map(({ cpuMicros: each }) => each)) : undefined,
  };
}
