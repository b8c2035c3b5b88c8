import { readdirSync, readFileSync } from 'node:fs';

/** User and system time of a process and its threads, in microseconds; 0 where /proc is not there. */
export function cpuMicros(pid: number): number {
  const fields = statFields(pid);
  return fields ? (Number(fields[11]) + Number(fields[12])) * 10_000 : 0;
}

/** A process and those that it started, such as the workers of a server. */
export function processTree(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid)];
}

/** The processes whose parent is `pid`; none where /proc is not there. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number));
  } catch {
    return [];
  }
}

/** Time for which a process's main thread was at work, in milliseconds; 0 where /proc is not there. */
export function mainThreadMillis(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
}

/** Resident memory in MiB. */
export function residentMib(pid: number): number {
  return statusMib(pid, 'VmRSS');
}

function statusMib(pid: number, name: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024);
  } catch {
    return 0;
  }
}

/** Resident memory in MiB, and its parts. */
export interface MemoryParts {
  readonly total: number;
  /** What the process allocated. */
  readonly own: number;
  /** Pages of mapped files, which the kernel can take back. */
  readonly file: number;
  readonly shared: number;
}

export function memoryParts(pid: number): MemoryParts {
  const [total, own, file, shared] = ['VmRSS', 'RssAnon', 'RssFile', 'RssShmem'].map((name) => statusMib(pid, name)) as [
    ...[number, number, number, number],
  ];
  return { total, own, file, shared };
}

export function memoryText({ total, own, file, shared }: MemoryParts): string {
  return `resident ${total} MiB (allocated ${own}, mapped files ${file}, shared ${shared})`;
}

function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
