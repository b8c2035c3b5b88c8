import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Configuration } from '../config/configuration.ts';
import { Findings, type Finding } from './finding.ts';
import type { Machine } from './machine-checks.ts';

/** Seconds that a clock may be behind what it wrote itself: file systems round. */
const SLACK = 5_000;

/** Whether time goes on from where the store was left. Leases and tokens end by the clock. */
export async function checkClock({ storage }: Configuration, machine: Machine, now: Date): Promise<Finding[]> {
  const found = new Findings('clock');
  const newest = storage.type === 'lmdb' ? await newestIn(storage.path) : undefined;
  if (newest !== undefined && newest - now.getTime() > SLACK)
    found.failure(
      `it says ${now.toISOString()}, but the store was written at ${new Date(newest).toISOString()}`,
      'Set the clock: leases would end too late, and rotations would not run',
    );
  else if (
    (await machine.read('/run/systemd/timesync/synchronized')) === undefined &&
    (await machine.read('/run/chrony/chronyd.pid')) === undefined
  )
    found.warning(
      `it says ${now.toISOString()}, and no program that synchronizes it was found`,
      'Run chrony or systemd-timesyncd, unless the host of a virtual machine sets its clock',
    );
  else found.ok(`it says ${now.toISOString()}, and is synchronized`);
  return found.all;
}

async function newestIn(folder: string): Promise<number | undefined> {
  const names = await readdir(folder).catch(() => []);
  const times = await Promise.all(names.map(async (name) => (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0));
  return times.length === 0 ? undefined : Math.max(...times);
}
