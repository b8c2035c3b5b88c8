import { setTimeout } from 'node:timers/promises';
import { slapdMissing } from '@strongroom/lab';
import { comparedLoad, type ComparedLoad } from './compared-load.ts';
import { comparedCredentials } from './database.ts';
import { comparedAccounts } from './ldap-secrets.ts';
import { load, once, type Figures, type Operation, type Target } from './load.ts';
import { comparedLogins } from './login.ts';
import { mount, MOUNTS } from './mounts.ts';
import { comparedTransit } from './transit.ts';
import { fill, workloads } from './workloads.ts';

/** The medians of one server's rounds. */
export interface Median {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly mainMicros: number;
  readonly residentMib: number;
}

export interface RoundOptions {
  /** Of one round. */
  readonly seconds: number;
  readonly rounds: number;
  /** The part of a workload's name by which to choose. */
  readonly only: string | undefined;
}

const secrets = comparedLoad(['lookup', 'kv read', 'kv write', 'token create'], async (targets) => {
  for (const target of targets) {
    await mount(target, MOUNTS.secrets, 'kv', { version: '2' });
    await untilReady(target, '/v1/bench/config');
    await load('fill', target, fill(target.token), { count: 1_000 });
  }
  const one =
    (name: 'lookup' | 'kv read' | 'kv write' | 'token create') =>
    (target: Target): Operation =>
      workloads(target)[name];
  return {
    operations: { lookup: one('lookup'), 'kv read': one('kv read'), 'kv write': one('kv write'), 'token create': one('token create') },
    stop: async () => {
      for (const target of targets) await once(target, 'DELETE', `/v1/sys/mounts/${MOUNTS.secrets}`);
    },
  };
});

/**
 * Drives several servers with the same load in alternating rounds: what else the machine does then hits all of them. Yields each workload's medians, in
 * the order of the targets. Nothing may be mounted in them at the paths of `MOUNTS`; some of these mounts stay.
 */
export async function* alternate(
  targets: readonly Target[],
  { seconds, rounds, only }: RoundOptions,
): AsyncGenerator<{ readonly name: string; readonly medians: readonly Median[] }> {
  const isChosen = (name: string): boolean => only === undefined || name.includes(only);
  const loads: readonly ComparedLoad[] = [
    secrets,
    ...(slapdMissing === undefined ? [comparedLogins, comparedAccounts] : []),
    comparedCredentials,
    comparedTransit,
  ];
  for (const { names, start } of loads) {
    if (!names.some(isChosen)) continue;
    const { operations, stop } = await start(targets);
    try {
      for (const [name, operation] of Object.entries(operations)) {
        if (!isChosen(name)) continue;
        const sides = targets.map((target) => ({ target, work: operation(target), figures: [] as Figures[] }));
        for (const { target, work } of sides) await load('warm up', target, work, { seconds: 2 });
        for (let round = 0; round < rounds; round += 1)
          for (const { target, work, figures } of sides) figures.push(await load(name, target, work, { seconds }));
        yield { name, medians: sides.map(({ figures }) => medianOf(figures)) };
      }
    } finally {
      await stop();
    }
  }
}

/** A new mount of key-value version 2 refuses requests for a moment on some servers, while it makes itself ready. */
async function untilReady(target: Target, path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await once(target, 'GET', path);
      return;
    } catch (error) {
      if (attempt === 50) throw error;
      await setTimeout(100);
    }
  }
}

function medianOf(figures: readonly Figures[]): Median {
  const middle = (of: keyof Median): number => figures.map((one) => one[of]).toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!;
  return {
    perSecond: middle('perSecond'),
    cpuMicros: middle('cpuMicros'),
    mainMicros: middle('mainMicros'),
    residentMib: middle('residentMib'),
  };
}
