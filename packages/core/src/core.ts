import { type AnyPath, type Engine, type EnginePackage, type EnginePool } from '@strongroom/engine-sdk';
import { builtInEngines } from './api/engines.ts';
import { consoleSettingsPaths } from './api/sys/path-console-settings.ts';
import { takesStream } from './api/sys/path-snapshot.ts';
import { openSealPaths, type SealPathDeps } from './api/sys/path-seal.ts';
import type { CoreOptions } from './core-options.ts';
import type { CoreRequest } from './kernel/call/core-request.ts';
import type { CoreResponse } from './kernel/call/core-response.ts';
import { storageWarnings } from './kernel/storage/storage-warnings.ts';
import { openKernel, type Kernel } from './kernel/kernel.ts';
import { PathRouter } from './kernel/mounts/path-router.ts';
import { Lifecycle } from './lifecycle/lifecycle.ts';
import { createRootToken } from './lifecycle/root-token.ts';
import { openPipeline } from './request/open-pipeline.ts';
import type { Pipeline } from './request/pipeline.ts';
import type { SealState } from './services/seal/seal-health.ts';
import type { InitOrder, InitResult } from './services/seal/seal.ts';
import type { QuotaFigures } from './services/quotas/quotas.ts';
import { mountCounts, type MountCounts, type WorkFigures } from './services/figures/figures.ts';
import { openServices, type Services } from './services/services.ts';
import type { AuditFigures } from './services/audit/audit-broker.ts';
import type { Timed } from './services/figures/request-timings.ts';
import type { Timing } from './services/figures/timing.ts';
import type { PageHeaders } from './services/settings/page-headers.ts';
import type { CorsConfig } from './services/settings/cors-config.ts';

/**
 * The secrets server without a network: give it requests, it gives answers. Made by `createCore`. It starts sealed unless its
 * seal opens by itself.
 */
export class Core {
  readonly #kernel: Kernel;
  readonly #services: Services;
  readonly #lifecycle: Lifecycle;
  readonly #pipeline: Pipeline;

  constructor(options: CoreOptions) {
    const builtIn = new Map<string, EnginePackage>();
    const kernel = (this.#kernel = openKernel(options));
    const services = (this.#services = openServices(kernel, options, builtIn));
    const lifecycle = (this.#lifecycle = new Lifecycle(kernel, services, options.clusterName));
    const sealing = sealPathDeps(kernel, services, lifecycle, options.storage.name);
    const newRootToken = async (): Promise<string> => createRootToken(kernel, services.tokens);
    const replaceStore = async (replace: () => Promise<void>): Promise<boolean> => lifecycle.replaceStore(replace);
    const parts = { kernel, services, sealing, newRootToken, replaceStore };
    for (const engine of builtInEngines(parts, options)) builtIn.set(engine.name, engine);
    this.#pipeline = openPipeline(kernel, services, {
      open: new PathRouter([...openSealPaths(sealing), ...consoleSettingsPaths(options.console)]),
      sealed: () => !lifecycle.open,
      onAnswer: options.onAnswer,
    });
  }

  /** CORS settings, for the adapter that serves the core. */
  get cors(): CorsConfig {
    return this.#services.cors;
  }

  /** Headers that operators add to the pages of the console, for the adapter that serves them. */
  get pageHeaders(): PageHeaders {
    return this.#services.pageHeaders;
  }

  /** Carries out a call. Never throws: what went wrong is in the answer. */
  handle(request: CoreRequest): Promise<CoreResponse> {
    return this.#pipeline.handle(request);
  }

  /**
   * Whether the token is one that a caller at the address can use now: asked before a large body is read for them. Nothing of it is used up, and nothing is
   * audited. False while sealed, for wrapping tokens, and where the store cannot say.
   */
  async recognizes(token: string, remoteAddress: string): Promise<boolean> {
    if (this.sealed) return false;
    try {
      return await this.#services.access.recognizes(token, remoteAddress);
    } catch {
      // The call itself meets the same failure, and says so.
      return false;
    }
  }

  /** Whether a write to the path takes its body as `CoreRequest.body`, and not as fields. */
  streamsBody(path: string): boolean {
    return takesStream(path);
  }

  get sealed(): boolean {
    return !this.#lifecycle.open;
  }

  /** Whether the store has its keys. */
  initialized(): Promise<boolean> {
    return this.#lifecycle.initialized();
  }

  /** Makes the keys of an empty store and its root token. The core stays sealed unless its seal opens by itself. */
  initialize(order: InitOrder): Promise<InitResult & { rootToken: string }> {
    return this.#lifecycle.initialize(order);
  }

  /** Takes one share of the operators; opens the core with the last one needed. `migrate`: migrates the store to the configured seal first. */
  unseal(share: Buffer, migrate = false): Promise<void> {
    return this.#lifecycle.unseal(share, migrate);
  }

  /** Opens the core if its seal does that by itself. */
  openAutomatically(): Promise<boolean> {
    return this.#lifecycle.openAutomatically();
  }

  /** As `openAutomatically`; where that cannot be done yet, it is tried again until it can. @throws Error for seals that did not seal the store */
  openWhenPossible(): Promise<void> {
    return this.#lifecycle.openWhenPossible();
  }

  /**
   * Waits for nobody: the keys are forgotten when this returns, requests under way are answered that the server is sealed, and whatever an engine
   * still does can neither read nor write. Resolves when the engines are closed, or have had their time for it.
   */
  seal(): Promise<void> {
    return this.#lifecycle.seal();
  }

  /** Gives scheduled work a moment to store how far it came, then seals and closes the storage. */
  close(): Promise<void> {
    return this.#lifecycle.close();
  }

  /** Opens files of audit devices again: after log rotation. */
  reopenAuditFiles(): Promise<void> {
    return this.#services.audit.reopen();
  }

  /** Processes everything that is due now: for tests that move the clock. */
  settleSchedule(): Promise<void> {
    return this.#kernel.runner.settle();
  }

  /** How far quotas are used, for metrics. */
  quotaFigures(): QuotaFigures {
    const { rates, leases } = this.#services.quotas;
    return { rateLimits: [...rates.refusals()].map(([name, refused]) => ({ name, refused })), leaseCaps: leases.figures() };
  }

  /** What each mount has done since this server started, for metrics. */
  mountCounts(): MountCounts[] {
    return mountCounts(this.#services.figures, (uuid) => this.#services.mounts.byUuid(uuid));
  }

  /** What this server has to do and cannot reach now, for metrics. Absent: not known, as while it is sealed. */
  workFigures(): WorkFigures {
    const { figures, counts, underWay } = this.#services;
    const { waiting } = figures.sampler;
    const [tokens, entities] = [counts.tokens.last, counts.entities.last];
    return {
      circuitsOpen: this.#kernel.outside.breakers.open().length,
      requestsUnderWay: underWay.size,
      workUnderWay: this.#kernel.runner.busy,
      ...(waiting ? { waiting } : {}),
      ...(tokens === undefined ? {} : { tokens }),
      ...(entities === undefined ? {} : { entities }),
    };
  }

  /** The pools of connections that engines of this server hold, for metrics. */
  poolFigures(): (EnginePool & { readonly mount: string; readonly type: string })[] {
    return this.#services.mounts.all().flatMap(({ path, type, engine }) => poolsOf(engine).map((pool) => ({ mount: path, type, ...pool })));
  }

  /** How long requests took since this server started, for metrics. The route of a mount that is gone has no path. */
  timings(): { of: (name: Timed) => Timing; routes: { mount: string; operation: string; timing: Timing }[] } {
    const { figures, mounts } = this.#services;
    const routes = figures.timings.routes().flatMap(({ mount, ...route }) => {
      const path = mount === '' ? '' : mounts.byUuid(mount)?.path;
      return path === undefined ? [] : [{ mount: path, ...route }];
    });
    return { of: (name) => figures.timings.of(name), routes };
  }

  /** How the audit devices fare, for metrics. */
  auditFigures(): AuditFigures[] {
    return this.#services.audit.figures();
  }

  /** The name of the store's cluster; absent while sealed. */
  get clusterName(): string | undefined {
    return this.sealed ? undefined : this.#services.cluster.identity?.name;
  }

  /** How the enabled seals are. */
  sealStates(): SealState[] {
    return this.#services.sealHealth.states;
  }

  /** For how long each enabled seal has failed, for metrics; 0 while it is healthy. */
  sealUnreachableSeconds(): { readonly name: string; readonly seconds: number }[] {
    return this.#services.sealHealth.unreachableSeconds();
  }

  /** The paths of `sys/` and of a mount, for documents made from the declarations. */
  declaredPaths(): { prefix: string; paths: readonly AnyPath[] }[] {
    return this.#services.mounts.all().map((mount) => ({ prefix: mount.path, paths: mount.router?.paths ?? [] }));
  }

  /** For an empty store: initializes it with this root token, and opens it. */
  openForDevelopment(rootToken: string): Promise<void> {
    return this.#lifecycle.initializeForDevelopment(rootToken);
  }
}

/** None of an engine that cannot say. */
function poolsOf(engine: Engine | undefined): readonly EnginePool[] {
  try {
    return engine?.pools?.() ?? [];
  } catch {
    return [];
  }
}

/** What the paths of `sys/` that are always open are given. */
function sealPathDeps(
  { clock, copies, driver, siblings }: Kernel,
  { seal, sealHealth, pgpKeys, cluster, audit }: Services,
  lifecycle: Lifecycle,
  storageType: string,
): SealPathDeps {
  return {
    ...{ seal, sealHealth, pgpKeys, cluster, storageType, siblings },
    now: () => clock.now(),
    sealed: () => !lifecycle.open,
    opening: (recoveryKeys) => lifecycle.openingProblem(recoveryKeys),
    problem: () => copies.problem(),
    warnings: () => [...audit.warnings(), ...storageWarnings(driver)],
    initialized: () => lifecycle.initialized(),
    initialize: (order) => lifecycle.initialize(order),
    unseal: (share, migrate) => lifecycle.unseal(share, migrate),
    dropShares: () => lifecycle.dropShares(),
    close: () => lifecycle.seal(),
    storageIndex: () => driver.commits,
  };
}

/**
 * Makes a core over a storage. Two calls embed it: this one, and the adapter's router.
 * A plugin that was built for another API is left out, and what needs it says so. @throws PluginRefused for a list that names one twice
 */
export async function createCore(options: CoreOptions): Promise<Core> {
  const core = new Core(options);
  if (options.devRootToken !== undefined) await core.openForDevelopment(options.devRootToken);
  else await core.openWhenPossible();
  return core;
}
