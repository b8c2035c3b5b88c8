import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { Findings, type Finding } from './finding.ts';

/** Open files below this are used up by a few hundred clients. */
const FEW_FILES = 4_096;

/** The machine as checks see it; tests bring another one. */
export interface Machine {
  /** The text of a file of `/proc` or `/sys`; undefined where there is none. */
  read(path: string): Promise<string | undefined>;
  /** Undefined where the system has no users. */
  readonly user: { readonly id: number; readonly name: string } | undefined;
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  const id = process.getuid?.();
  return {
    read: async (path) => readFile(path, 'utf8').catch(() => undefined),
    user: id === undefined ? undefined : { id, name: userInfo().username },
  };
}

/** Open files, core dumps, swap and the user: what an operator sets outside of the configuration. */
export async function checkMachine(machine: Machine): Promise<Finding[]> {
  const [limits, swaps, pattern] = await Promise.all(
    ['/proc/self/limits', '/proc/swaps', '/proc/sys/kernel/core_pattern'].map(machine.read),
  );
  return [...openFiles(limits), ...coreDumps(limits, pattern), ...(await swap(swaps, machine)), ...user(machine)];
}

function openFiles(limits: string | undefined): Finding[] {
  const found = new Findings('open files');
  const soft = softLimit(limits, 'Max open files');
  if (soft === undefined) found.skipped('the system does not say how many files may be open');
  else if (soft < FEW_FILES)
    found.warning(
      `${soft} files may be open at a time, connections among them`,
      'Raise it: LimitNOFILE=65536 in the unit of systemd, or ulimit -n',
    );
  else found.ok(`${soft === Infinity ? 'any number of' : soft} files may be open at a time`);
  return found.all;
}

function coreDumps(limits: string | undefined, pattern: string | undefined): Finding[] {
  const found = new Findings('core dumps');
  const soft = softLimit(limits, 'Max core file size');
  // The kernel does not hold a program that dumps are piped to to the limit; systemd-coredump heeds it by itself.
  const piped = pattern?.startsWith('|') === true;
  if (soft === undefined) found.skipped('the system does not say whether it writes core dumps');
  else if (soft === 0)
    found.ok(piped ? `none are written, if ${pattern!.slice(1).split(' ')[0]!.trim()} heeds the limit` : 'none are written');
  else
    found.warning(
      `a process that crashes leaves its memory, secrets among it, ${piped ? 'with a program of the system' : 'in a file'}`,
      'Turn them off: LimitCORE=0 in the unit of systemd, or ulimit -c 0',
    );
  return found.all;
}

async function swap(swaps: string | undefined, machine: Machine): Promise<Finding[]> {
  const found = new Findings('swap');
  if (swaps === undefined) {
    found.skipped('the system does not say whether it swaps');
    return found.all;
  }
  const devices = swaps
    .split('\n')
    .slice(1)
    .flatMap((line) => line.split(/\s+/)[0] || []);
  const open: string[] = [];
  for (const device of devices) {
    const name = device.split('/').at(-1)!;
    const mapped = await machine.read(`/sys/block/${name}/dm/uuid`);
    if (!name.startsWith('zram') && mapped?.startsWith('CRYPT-') !== true) open.push(device);
  }
  if (devices.length === 0) found.ok('there is none');
  else if (open.length === 0) found.ok('it is encrypted, or in memory');
  else
    found.warning(
      `memory, secrets among it, may be written to ${open.join(', ')}`,
      'Turn swap off (swapoff -a), encrypt it, or set MemorySwapMax=0 in the unit of systemd',
    );
  return found.all;
}

function user({ user: who }: Machine): Finding[] {
  const found = new Findings('user');
  if (!who) found.skipped('the system has no users');
  else if (who.id === 0) found.warning('this is root, and so would be the server', 'Run both as a user of its own');
  else found.ok(who.name);
  return found.all;
}

function softLimit(limits: string | undefined, name: string): number | undefined {
  const text = limits === undefined ? undefined : new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(limits)?.[1];
  return text === undefined ? undefined : text === 'unlimited' ? Infinity : Number(text);
}
