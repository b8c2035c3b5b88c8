import { readFileSync, readlinkSync } from 'node:fs';
import { Type, type Static } from 'typebox';

/** Which process a server runs in: enough to know it again, on its own machine, after it has ended. */
export const ProcessFacts = Type.Object({
  /** Of the machine's present run; '' where it cannot be known. */
  boot: Type.String(),
  /** Of process numbers: two containers count for themselves. */
  namespace: Type.String(),
  pid: Type.Number(),
  /** In clock ticks since the boot; '' where it cannot be known. A number is given to another process later. */
  started: Type.String(),
});
export type ProcessFacts = Static<typeof ProcessFacts>;

/** What a process can say about itself and about the others on its machine. */
export interface ProcessTable {
  own(): ProcessFacts;
  /** Whether such a process is there; undefined where that cannot be determined from here. */
  exists(facts: ProcessFacts): boolean | undefined;
}

/** By Linux's `/proc`. Elsewhere nothing is known about other processes. */
export const linuxProcesses: ProcessTable = {
  own: () => ({ boot: bootId(), namespace: namespaceOf('self'), pid: process.pid, started: startOf('self') ?? '' }),
  exists: (facts) => {
    if (facts.boot === '' || facts.started === '' || facts.boot !== bootId() || facts.namespace !== namespaceOf('self')) return undefined;
    return startOf(String(facts.pid)) === facts.started;
  },
};

function bootId(): string {
  return read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? '';
}

function namespaceOf(pid: string): string {
  return read(() => readlinkSync(`/proc/${pid}/ns/pid`)) ?? '';
}

/** The 22nd field of `stat`; the second one, the program's name, may hold anything between its brackets. A process that only waits to be reaped is gone. */
function startOf(pid: string): string | undefined {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function read(look: () => string): string | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
