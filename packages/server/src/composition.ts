import 'reflect-metadata';
import { readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reserveCode, systemClock, type Clock, type Plugin } from '@strongroom/engine-sdk';
import { alone, createCore, type Core, type FollowedLog, type SealState, type Siblings } from '@strongroom/core';
import type { StorageDriver } from '@strongroom/storage-sdk';
import type { OtlpTracing } from '@strongroom/tracing';
import { container, instanceCachingFactory, type DependencyContainer, type InjectionToken } from 'tsyringe';
import type { Configuration, StorageChoice } from './config/configuration.ts';
import { openConsole, type ConsolePages } from './console.ts';
import { ListenerSet } from './listeners/listener-set.ts';
import { ServerLog } from './log/server-log.ts';
import { ServerMetrics } from './metrics/server-metrics.ts';
import { loadOpenPgp } from './plugins/openpgp.ts';
import { offeredPlugins, type OfferedPlugins } from './plugins/plugin-list.ts';
import { packagePlugins } from './plugins/package-plugins.ts';
import { configuredSeals } from './plugins/configured-seals.ts';
import { localSnapshots } from './snapshots/local-folder.ts';
import { openStorage } from './storage-choice.ts';
import { openTracing } from './tracing/open-tracing.ts';
import { CountsOfAll } from './workers/counts-of-all.ts';
import { FollowedWorkers } from './workers/followed-workers.ts';
import type { WorkerSiblings } from './workers/worker-siblings.ts';

/** What a server consists of. The container knows each part by one of these and makes it once, when somebody first asks. */
export const TOKENS = {
  configuration: token<Configuration>('Configuration'),
  clock: token<Clock>('Clock'),
  log: token<ServerLog>('Log'),
  metrics: token<ServerMetrics | undefined>('Metrics'),
  offered: token<Promise<OfferedPlugins>>('OfferedPlugins'),
  externalPlugins: token<Promise<readonly Plugin[]>>('ExternalPlugins'),
  storage: token<Promise<StorageDriver>>('Storage'),
  core: token<Promise<Core>>('Core'),
  tracing: token<Promise<OtlpTracing | undefined>>('Tracing'),
  console: token<Promise<ConsolePages>>('Console'),
  listeners: token<Promise<ListenerSet>>('Listeners'),
  devRootToken: token<string | undefined>('DevRootToken'),
  /** The other processes of a server that has several. */
  siblings: token<Siblings>('Siblings'),
  /** What they have counted; undefined where there are none. */
  otherCounts: token<CountsOfAll | undefined>('OtherCounts'),
  followedLog: token<FollowedLog>('FollowedLog'),
} as const;

/** What embedders and tests may bring themselves. */
export interface Replacements {
  readonly clock?: Clock;
  readonly log?: ServerLog;
  readonly storage?: StorageDriver;
  /** Beside those that every server has. */
  readonly plugins?: readonly Plugin[];
  /** In place of the package `@strongroom/console`. */
  readonly console?: ConsolePages;
  /** Development: an empty store is initialized with it, and key-value is mounted at `secret/`. */
  readonly devRootToken?: string;
}

/** The one place where parts are put together. Nothing is opened before it is resolved. */
export function compose(configuration: Configuration, replacements: Replacements = {}, workers?: WorkerSiblings): DependencyContainer {
  const parts = container.createChildContainer();
  const once = <T>(name: InjectionToken<T>, make: (from: DependencyContainer) => T): void => {
    parts.register(name, { useFactory: instanceCachingFactory(make) });
  };
  once(TOKENS.configuration, () => configuration);
  once(TOKENS.clock, () => replacements.clock ?? systemClock);
  once(TOKENS.devRootToken, () => replacements.devRootToken);
  once(
    TOKENS.log,
    () =>
      replacements.log ??
      new ServerLog({
        level: configuration.logLevel,
        format: configuration.logFormat,
        ...(configuration.logFile === undefined ? {} : { file: configuration.logFile }),
      }),
  );
  once(TOKENS.siblings, () => workers ?? alone);
  once(TOKENS.otherCounts, () => workers && new CountsOfAll(workers));
  once(TOKENS.followedLog, (from) => {
    const log = from.resolve(TOKENS.log);
    return workers ? new FollowedWorkers(log, workers) : log;
  });
  let opened: Core | undefined;
  let traces: OtlpTracing | undefined;
  once(TOKENS.metrics, (from) => {
    if (!configuration.metrics) return undefined;
    const others = from.resolve(TOKENS.otherCounts);
    const metrics = new ServerMetrics(
      {
        sealed: () => opened?.sealed ?? true,
        cluster: () => opened?.clusterName ?? '',
        quotas: () => opened?.quotaFigures(),
        mounts: () => opened?.mountCounts() ?? [],
        pools: () => opened?.poolFigures() ?? [],
        work: () => opened?.workFigures(),
        seals: () => opened?.sealUnreachableSeconds() ?? [],
        timings: () => opened?.timings(),
        audit: () => opened?.auditFigures() ?? [],
        spans: () => traces?.counts,
        room: () => roomOf(configuration.storage),
      },
      others,
    );
    others?.share(() => metrics.snapshot());
    return metrics;
  });
  once(TOKENS.offered, async () => {
    const { installed, absent } = await offeredPlugins();
    return { installed: [...installed, localSnapshots, ...(replacements.plugins ?? [])], absent };
  });
  once(TOKENS.externalPlugins, async (from) => packagePlugins(configuration.plugins, (await from.resolve(TOKENS.offered)).installed));
  once(
    TOKENS.storage,
    async (from) => replacements.storage ?? (await openStorage(configuration.storage, from.resolve(TOKENS.log).named('storage'))),
  );
  once(TOKENS.core, async (from) => {
    const plugins = { ...(await from.resolve(TOKENS.offered)), external: await from.resolve(TOKENS.externalPlugins) };
    const storage = await from.resolve(TOKENS.storage);
    reserveCode(storage.code ?? []);
    try {
      opened = await coreOf(from, plugins, storage);
      return opened;
    } catch (error) {
      await storage.close();
      throw error;
    }
  });
  once(TOKENS.tracing, async (from) => {
    traces = await openTracing(configuration.tracing, from.resolve(TOKENS.log));
    return traces;
  });
  once(TOKENS.console, async (from) => replacements.console ?? openConsole(configuration.console, from.resolve(TOKENS.log)));
  once(TOKENS.listeners, async (from) =>
    ListenerSet.open(configuration.listeners, {
      core: await from.resolve(TOKENS.core),
      log: from.resolve(TOKENS.log).named('http'),
      metrics: from.resolve(TOKENS.metrics),
      tracer: (await from.resolve(TOKENS.tracing))?.tracer,
      console: await from.resolve(TOKENS.console),
    }),
  );
  return parts;
}

async function coreOf(
  from: DependencyContainer,
  plugins: OfferedPlugins & { readonly external: readonly Plugin[] },
  storage: StorageDriver,
): Promise<Core> {
  const configuration = from.resolve(TOKENS.configuration);
  const metrics = from.resolve(TOKENS.metrics);
  const devRootToken = from.resolve(TOKENS.devRootToken);
  const tracing = await from.resolve(TOKENS.tracing);
  const { seals, lockout, apiAddress, clusterName, defaultLeaseTtl, maxLeaseTtl, audit, auditEmergencyDisable, sanitized } = configuration;
  const core: Core = await createCore({
    storage: metrics ? metrics.counting(storage) : storage,
    plugins: plugins.installed,
    externalPlugins: plugins.external.filter(({ kind }) => kind !== 'seal'),
    absentPlugins: plugins.absent,
    clock: from.resolve(TOKENS.clock),
    log: from.resolve(TOKENS.log),
    loggers: from.resolve(TOKENS.log),
    logLevels: from.resolve(TOKENS.log),
    followedLog: from.resolve(TOKENS.followedLog),
    siblings: from.resolve(TOKENS.siblings),
    audit,
    auditEmergencyDisable,
    sanitizedConfig: () => ({ ...sanitized, ...(seals.length === 0 ? {} : { seals: shownSeals(seals, core.sealStates()) }) }),
    console: configuration.console.settings,
    pgp: loadOpenPgp,
    seals: await configuredSeals(seals, { plugins: plugins.external, clock: from.resolve(TOKENS.clock), log: from.resolve(TOKENS.log) }),
    ...(tracing ? { tracer: tracing.tracer } : {}),
    ...(lockout ? { lockout } : {}),
    ...(devRootToken === undefined ? {} : { devRootToken }),
    ...(defaultLeaseTtl === undefined ? {} : { defaultLeaseTtl }),
    ...(maxLeaseTtl === undefined ? {} : { maxLeaseTtl }),
    ...(apiAddress === undefined ? {} : { apiAddress }),
    ...(clusterName === undefined ? {} : { clusterName }),
    ...(metrics ? { metrics: async (format) => metrics.render(format) } : {}),
  });
  return core;
}

/** For `sys/config/state/sanitized`. */
function shownSeals(seals: Configuration['seals'], states: readonly SealState[]): object[] {
  const shamir = seals.every(({ disabled }) => disabled) ? [{ type: 'shamir', disabled: false }] : [];
  const others = seals.map(({ type, name = type, priority = 1, disabled }) => {
    const healthy = disabled ? undefined : states.find((state) => state.name === name)?.healthy;
    return { type, name, priority, disabled, ...(healthy === undefined ? {} : { healthy }) };
  });
  return [...shamir, ...others];
}

/** Of a folder on a disk. What cannot be seen is not known. */
function roomOf(storage: StorageChoice): { used: number; free: number } | undefined {
  if (storage.type !== 'lmdb') return undefined;
  try {
    const { bavail, bsize } = statfsSync(storage.path);
    const sizes = readdirSync(storage.path).map((name) => statSync(join(storage.path, name)).blocks * 512);
    return { used: sizes.reduce((sum, size) => sum + size, 0), free: bavail * bsize };
  } catch {
    return undefined;
  }
}

function token<T>(name: string): InjectionToken<T> {
  return Symbol(name) as InjectionToken<T>;
}
