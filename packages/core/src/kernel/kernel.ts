import { reserveCode, silentLog, systemClock, type Clock, type Log, type Tracer } from '@strongroom/engine-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { Barrier } from './barrier/barrier.ts';
import { Incarnations, monotonicClock } from './incarnation/incarnations.ts';
import { linuxProcesses, type ProcessTable } from './incarnation/process-table.ts';
import { oneLog, type Loggers } from './loggers.ts';
import { alone, type Siblings } from './siblings.ts';
import { ChangesInStep } from './changes-in-step.ts';
import { Copies } from './storage/copies.ts';
import { CountingDriver } from './storage/counting-driver.ts';
import { Store } from './storage/store.ts';
import { OutsideSystems } from './work/outside-systems.ts';
import { ScheduleRunner } from './work/schedule-runner.ts';

export interface KernelOptions {
  readonly storage: StorageDriver;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly loggers?: Loggers;
  readonly siblings?: Siblings;
  readonly tracer?: Tracer;
  readonly liveness?: { readonly clock?: Clock; readonly processes?: ProcessTable };
}

/** The lowest floor: the encrypted store, and what runs due work on it. */
export type Kernel = ReturnType<typeof openKernel>;

export function openKernel(options: KernelOptions) {
  reserveCode(options.storage.code ?? []);
  const { clock = systemClock, loggers = oneLog(options.log ?? silentLog), siblings = alone } = options;
  const log = loggers.named('core');
  const { tracer } = options;
  const changesInStep = new ChangesInStep(siblings);
  const driver = new CountingDriver(options.storage, { tracer, log, clock, changed: (keys) => changesInStep.made(keys) });
  const barrier = new Barrier(driver, clock);
  const store = new Store(driver, barrier, tracer);
  const runner = new ScheduleRunner({ store, clock, log: loggers.named('expiration'), ...(tracer && { tracer }) });
  /** Only goes forward, and tells whether a process is alive. */
  const livenessClock = options.liveness?.clock ?? monotonicClock;
  const incarnations = new Incarnations({
    ...{ store, driver, log },
    clock: livenessClock,
    processes: options.liveness?.processes ?? linuxProcesses,
    presumedDead: () => runner.interrupt('this server was presumed dead'),
  });
  const outside = new OutsideSystems(clock, { requireAlive: () => incarnations.requireBeating(), ...(tracer && { tracer }) });
  return {
    clock,
    log,
    tracer,
    loggers,
    driver,
    barrier,
    store,
    copies: new Copies(driver),
    runner,
    livenessClock,
    incarnations,
    outside,
    siblings,
    changesInStep,
  };
}
