import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Microseconds: short, so that a process which has used its part waits for a moment only. */
const PERIOD = 10_000;
const V1 = '/sys/fs/cgroup/cpu';
const V2 = '/sys/fs/cgroup';

/** A control group for one process, which gets a share of one core. Needs to run as root on Linux. */
export class CpuShare {
  readonly #folder: string;

  /** @param share of a core, such as 0.2. @throws Error where there are no control groups for CPU time */
  constructor(pid: number, share: number) {
    const [first] = [V1, V2].filter(
      (folder) => existsSync(join(folder, 'cpu.cfs_quota_us')) || existsSync(join(folder, 'cgroup.controllers')),
    );
    if (first === undefined) throw new Error('CPU quotas need control groups of Linux at /sys/fs/cgroup');
    this.#folder = join(first, `strongroom-bench-${pid}`);
    const quota = Math.round(PERIOD * share);
    if (first === V2) writeFileSync(join(V2, 'cgroup.subtree_control'), '+cpu');
    mkdirSync(this.#folder);
    if (first === V2) this.#set('cpu.max', `${quota} ${PERIOD}`);
    else {
      this.#set('cpu.cfs_period_us', String(PERIOD));
      this.#set('cpu.cfs_quota_us', String(quota));
    }
    this.#set('cgroup.procs', String(pid));
  }

  /** Once the process has ended. */
  remove(): void {
    rmdirSync(this.#folder);
  }

  #set(name: string, value: string): void {
    writeFileSync(join(this.#folder, name), value);
  }
}
