import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const MOST = 8;

/** What `workers = "auto"` means on a machine with so many cores: all but one, which the supervisor, storage and other programs have. */
export function automaticWorkers(cores: number): number {
  return Math.max(1, Math.min(MOST, Math.floor(cores) - 1));
}

/** The cores that this process may use: of the machine, or fewer where it has a quota, as a container does. */
export function coresAtHand(read: (path: string) => string | undefined = readIfThere): number {
  const [quota, period] = read('/sys/fs/cgroup/cpu.max')?.trim().split(' ') ?? [
    read('/sys/fs/cgroup/cpu/cpu.cfs_quota_us')?.trim(),
    read('/sys/fs/cgroup/cpu/cpu.cfs_period_us')?.trim(),
  ];
  const share = Number(quota) / Number(period);
  return share > 0 ? Math.min(availableParallelism(), share) : availableParallelism();
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
