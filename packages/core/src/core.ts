import {
  BadRequest,
  reserveCode,
  silentLog,
  systemClock,
  Unavailable,
  waitAtMost,
  type AnyPath,
  type Clock,
  type Log,
} from '@strongroom/engine-sdk';
import { AccountRegistry } from './services/accounts/account-registry.ts';
import { AuditBroker } from './services/audit/audit-broker.ts';
import type { AuditDevicePlugin } from './services/audit/audit-device.ts';
import { fileAudit } from './services/audit/file-device.ts';
import { socketAudit } from './services/audit/socket-device.ts';
import { EVERYTHING, type ChangedKeys } from '@strongroom/storage-sdk';
import { Barrier, KEY_RING } from './kernel/barrier/barrier.ts';
import { KeyRotation } from './services/seal/key-rotation.ts';
import { Copies } from './kernel/storage/copies.ts';
import type { CoreOptions } from './core-options.ts';
import { cubbyholeEngine } from './api/cubbyhole/cubbyhole-engine.ts';
import { identityEngine } from './api/identity/identity-engine.ts';
import { IdentityStore } from './services/identity/identity-store.ts';
import { Incarnations, monotonicClock } from './kernel/incarnation/incarnations.ts';
import { linuxProcesses } from './kernel/incarnation/process-table.ts';
import { Journal } from './services/journal/journal.ts';
import { BulkRevoker } from './services/revocation/bulk-revoker.ts';
import { LeaseStore } from './services/leases/lease-store.ts';
import { SYSTEM_TTL } from './kernel/mounts/lease-terms.ts';
import { UserLockout } from './services/lockout/user-lockout.ts';
import { Followers } from './services/mounts/followers.ts';
import { MOUNTS } from './kernel/mounts/mount-record.ts';
import { MountTable } from './services/mounts/mount-table.ts';
import { type Mount } from './kernel/mounts/mount.ts';
import { openMount } from './services/mounts/open-mount.ts';
import { PathRouter } from './kernel/mounts/path-router.ts';
import { PasswordPolicyStore } from './services/passwords/password-policy-store.ts';
import { UsablePlugins } from './services/plugins/usable-plugins.ts';
import { PolicyStore } from './services/policies/policy-store.ts';
import { AuditTrail } from './request/audit-trail.ts';
import { TokenAccess } from './services/caller/token-access.ts';
import { Authentication } from './request/authentication.ts';
import { CallsUnderWay } from './kernel/call/calls-under-way.ts';
import type { CoreRequest } from './kernel/call/core-request.ts';
import type { CoreResponse } from './kernel/call/core-response.ts';
import { Issuing } from './request/issuing.ts';
import { LoginGuard } from './request/login-guard.ts';
import { Pipeline } from './request/pipeline.ts';
import { RepeatedCalls } from './request/repeated-calls.ts';
import { Routing } from './request/routing.ts';
import { Removals } from './services/removal/removals.ts';
import { Jobs } from './services/jobs/jobs.ts';
import { ScheduleRunner } from './kernel/work/schedule-runner.ts';
import { OutsideSystems, targetKey } from './kernel/work/outside-systems.ts';
import { Cluster } from './services/seal/cluster.ts';
import { openSealPaths, type SealPathDeps } from './api/sys/path-seal.ts';
import { Opening } from './services/seal/opening.ts';
import { Seal, SealKeyUnavailable, type InitOrder } from './services/seal/seal.ts';
import { CountingDriver } from './kernel/storage/counting-driver.ts';
import { MountView, type MountScope } from './services/mounts/mount-view.ts';
import { Store } from './kernel/storage/store.ts';
import { CorsConfig } from './services/settings/cors-config.ts';
import { systemEngine } from './api/sys/system-engine.ts';
import { systemPaths, type SystemParts } from './api/sys/system-paths.ts';
import { VersionHistory } from './services/settings/version-history.ts';
import { VERSION } from './kernel/version.ts';
import { LoginTokens } from './services/tokens/login-tokens.ts';
import { TokenCreation } from './services/tokens/token-creation.ts';
import { tokenEngine } from './api/token/token-engine.ts';
import { TokenRenewal } from './services/tokens/token-renewal.ts';
import { TokenRevoker } from './services/tokens/token-revoker.ts';
import { TokenStore } from './services/tokens/token-store.ts';
import { UnwrapDoor } from './request/unwrap-door.ts';
import { Wrapping } from './services/wrapping/wrapping.ts';
import { randomBytes } from './kernel/random-bytes.ts';

/** Until everything is read anew once more, after a failure. Milliseconds. */
const READ_ANEW_AGAIN = 500;
/** How often the rooms look after themselves: key rotation, expired policies. Milliseconds. */
const HOUSEKEEPING = 60_000;
/** How long the end of scheduled work is waited for; milliseconds. */
const LAST_WORK = 5_000;
const ROOMS = {
  policies: 'core/policies/',
  identity: 'core/identity/',
  audit: 'core/audit/',
  lockout: 'core/lockout/',
  system: 'core/system/',
} as const;

/**
 * The secrets server without a network: give it requests, it gives answers. Made by `createCore`. It starts sealed unless its
 * seal opens by itself.
 */
export class Core {
  /** CORS settings, for the adapter that serves the core. */
  readonly cors: CorsConfig;
  readonly #options: CoreOptions;
  readonly #driver: CountingDriver;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #plugins: UsablePlugins;
  readonly #barrier: Barrier;
  readonly #seal: Seal;
  readonly #store: Store;
  readonly #incarnations: Incarnations;
  readonly #opening: Opening;
  readonly #runner: ScheduleRunner;
  readonly #tokens: TokenStore;
  readonly #policies: PolicyStore;
  readonly #passwords: PasswordPolicyStore;
  readonly #identity: IdentityStore;
  readonly #audit: AuditBroker;
  readonly #access: TokenAccess;
  readonly #mounts: MountTable;
  readonly #removals: Removals;
  readonly #cluster: Cluster;
  readonly #versions: VersionHistory;
  readonly #rotation: KeyRotation;
  readonly #pipeline: Pipeline;
  readonly #copies: Copies;
  readonly #unsubscribe: () => void;
  #open = false;
  #starting = false;
  #changing: Promise<unknown> = Promise.resolve();
  /** Others changed something while this server was not open: what it read while it opened may be older. */
  #heardWhileClosed = false;
  #stopHousekeeping: (() => void) | undefined;

  constructor(options: CoreOptions) {
    this.#options = options;
    this.#driver = new CountingDriver(options.storage);
    reserveCode(options.storage.code ?? []);
    const clock = (this.#clock = options.clock ?? systemClock);
    const log = (this.#log = options.log ?? silentLog);
    this.#plugins = new UsablePlugins(options.plugins ?? [], { external: options.externalPlugins, absent: options.absentPlugins });
    for (const { reason } of this.#plugins.refused) log.error('a plugin is refused; the server goes on without it', { reason });
    const barrier = (this.#barrier = new Barrier(this.#driver, clock));
    this.#seal = new Seal({ driver: this.#driver, barrier, automatic: options.seal, log });
    const store = (this.#store = new Store(this.#driver, barrier));
    this.#copies = new Copies(this.#driver);
    this.#cluster = new Cluster(options.apiAddress ?? '', clock.now());
    this.#rotation = new KeyRotation({ barrier, store, clock });

    const runner = (this.#runner = new ScheduleRunner({ store, clock, log }));
    const liveness = options.liveness?.clock ?? monotonicClock;
    this.#opening = new Opening({
      clock: liveness,
      log,
      open: async () => ((await this.openAutomatically()) || this.#open ? 'open' : 'not initialised'),
    });
    const incarnations = (this.#incarnations = new Incarnations({
      ...{ store, log },
      driver: this.#driver,
      clock: liveness,
      processes: options.liveness?.processes ?? linuxProcesses,
      takenForDead: () => runner.interrupt('this server was taken for dead'),
    }));
    const outside = new OutsideSystems(clock, { requireAlive: () => incarnations.requireBeating() });
    const mountOf = (uuid: string): Mount | undefined => this.#mounts.byUuid(uuid);
    const jobs = new Jobs({ incarnations, store, clock, log, outside, mount: mountOf });
    const journal = new Journal({ incarnations, store, clock, log, outside, mount: mountOf });
    const leases = new LeaseStore({ incarnations, store, clock, log, outside, journal, mount: mountOf });
    const works = [leases.work, journal.work, jobs.work];
    for (const work of works) incarnations.handsOn(work);
    const tokens = (this.#tokens = new TokenStore({ store, barrier, clock, log }));
    const revoker = new TokenRevoker({ tokens, leases, store, log });
    const bulk = new BulkRevoker({ leases, tokens: revoker, log });
    runner.handle('lease', async (entry, signal) => leases.run(entry, signal));
    runner.handle('token', async (entry, signal) => revoker.run(entry, signal));
    runner.handle('job', async (entry, signal) => jobs.run(entry, signal));
    runner.handle('intent', async (entry, signal) => journal.run(entry, signal));

    const followers = new Followers({ byUuid: mountOf, followers: () => this.#mounts.followers() });
    const accounts = new AccountRegistry({ store, log, mount: mountOf });
    const scope = { store, journal, jobs, followers, accounts };
    const room = (prefix: string): MountView => new MountView({ ...scope, uuid: prefix, prefix } satisfies MountScope);
    const policies = (this.#policies = new PolicyStore({ storage: room(ROOMS.policies), clock }));
    const passwords = (this.#passwords = new PasswordPolicyStore({
      storage: room(ROOMS.policies),
      randomBytes: (count) => randomBytes(count),
    }));
    const identity = (this.#identity = new IdentityStore({
      storage: room(ROOMS.identity),
      clock,
      log,
      mounts: { byAccessor: (accessor) => this.#mounts.byAccessor(accessor) },
    }));
    const audit = (this.#audit = new AuditBroker({
      storage: room(ROOMS.audit),
      clock,
      log,
      plugins: [fileAudit, socketAudit, ...this.#plugins.usable.filter((plugin): plugin is AuditDevicePlugin => plugin.kind === 'audit')],
      ...(options.audit ? { configured: options.audit } : {}),
      ...(options.auditEmergencyDisable ? { emergencyDisable: options.auditEmergencyDisable } : {}),
    }));
    const lockout = new UserLockout({ storage: room(ROOMS.lockout), clock });
    this.cors = new CorsConfig(room(ROOMS.system));
    this.#versions = new VersionHistory(room(ROOMS.system), clock);

    const limits = { defaultLeaseTtl: options.defaultLeaseTtl ?? SYSTEM_TTL, maxLeaseTtl: options.maxLeaseTtl ?? SYSTEM_TTL };
    const access = (this.#access = new TokenAccess({ tokens, policies, identity }));
    const wrapping = new Wrapping({ store, tokens, revoker, clock, maxTtl: limits.maxLeaseTtl });
    const creation = new TokenCreation({ store, tokens, policies, identity, clock });
    const renewal = new TokenRenewal({
      tokens,
      identity,
      clock,
      mount: mountOf,
      tokenMount: () => this.#mounts.at('auth/token/')!,
    });
    const underWay = new CallsUnderWay();

    const sealing: SealPathDeps = {
      seal: this.#seal,
      cluster: this.#cluster,
      storageType: options.storage.name,
      now: () => clock.now(),
      sealed: () => !this.#open,
      opening: () => this.#opening.problem,
      problem: () => this.#copies.problem(),
      initialized: async () => (await this.#seal.config()) !== undefined,
      initialize: async (order) => this.initialize(order),
      unseal: async (share) => this.unseal(share),
      close: async () => this.seal(),
      storageIndex: () => this.#driver.commits,
    };
    this.#mounts = new MountTable({
      scope,
      clock,
      log,
      system: limits,
      plugins: this.#plugins,
      outside,
      builtIn: new Map([
        ['system', systemEngine(() => systemPaths(system))],
        ['identity', identityEngine(identity)],
        ['cubbyhole', cubbyholeEngine(store)],
        ['token', tokenEngine({ tokens, creation, renewal, revoker, identity })],
      ]),
      generatePassword: async (policy) => passwords.generate(policy),
      retry: async (mount, target) => {
        outside.breakers.succeeded(targetKey(mount, target));
        for (const work of works) await work.retryTarget(mount, target);
      },
      revokeBelow: async (path) => bulk.revoke(path.slice(0, -1)),
    });
    const removals = (this.#removals = new Removals({
      ...{ store, clock, log, bulk, journal, accounts },
      mounts: this.#mounts,
      forget: async (mount) => {
        await jobs.forgetMount(mount.uuid);
        await accounts.forgetMount(mount.uuid);
        if (mount.class !== 'auth') return;
        await identity.aliasesOfMountRemoved(mount.accessor);
        await lockout.forgetMount(mount.accessor);
      },
    }));
    runner.handle('removal', async (entry, signal) => removals.run(entry, signal));

    const system: SystemParts = {
      logLevels: options.logLevels,
      sanitizedConfig: options.sanitizedConfig,
      metrics: options.metrics,
      ...{ clock, sealing, barrier, policies, passwords, access, tokens, leases, revoker, bulk },
      ...{ removals, jobs, journal, outside, wrapping, audit, cors: this.cors, lockout, underWay },
      rotation: this.#rotation,
      mounts: this.#mounts,
      plugins: this.#plugins,
      versions: this.#versions,
      newRootToken: async () => this.#newRootToken(),
      reloadPlugins: async (what) => this.#reloadPlugins(what),
    };
    this.#pipeline = new Pipeline({
      clock,
      log,
      underWay,
      copies: this.#copies,
      routing: new Routing({
        mounts: this.#mounts,
        open: new PathRouter(openSealPaths(sealing)),
        openMount: openMount(room(ROOMS.system)),
        sealed: () => !this.#open,
      }),
      authentication: new Authentication({ tokens, access, revoker, log }),
      logins: new LoginGuard(lockout),
      issuing: new Issuing({ leases, logins: new LoginTokens({ store, tokens, identity, clock }) }),
      repeats: new RepeatedCalls({ store, clock }),
      wrapping,
      unwrapDoor: new UnwrapDoor(),
      audit: new AuditTrail(audit),
    });
    this.#unsubscribe = this.#driver.changes((changed) => this.#heard(changed));
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
    if (!this.#open) return false;
    try {
      return await this.#access.recognizes(token, remoteAddress);
    } catch {
      // The call itself meets the same failure, and says so.
      return false;
    }
  }

  get sealed(): boolean {
    return !this.#open;
  }

  /** Whether the store has its keys. */
  async initialized(): Promise<boolean> {
    return (await this.#seal.config()) !== undefined;
  }

  /** Makes the keys of an empty store and its root token. The core stays sealed unless its seal opens by itself. */
  initialize(order: InitOrder): Promise<{ keys: readonly Buffer[]; recoveryKeys: readonly Buffer[]; rootToken: string }> {
    return this.#exclusively(async () => this.#initialize(order));
  }

  /** Takes one share of the unseal key; opens the core with the last one needed. */
  unseal(share: Buffer): Promise<void> {
    return this.#exclusively(async () => {
      await this.#seal.provide(share);
      if (!this.#barrier.sealed) await this.#start();
    });
  }

  /** Opens the core if its seal does that by itself. */
  openAutomatically(): Promise<boolean> {
    return this.#exclusively(async () => {
      if (!(await this.#seal.openAutomatically())) return false;
      await this.#start();
      return true;
    });
  }

  /**
   * Opens the core if its seal does that by itself. Where the store is not initialised yet or the key cannot be had, it is opened later, as soon
   * as that is possible. @throws BadRequest for a key that does not open the store
   */
  async openWhenPossible(): Promise<void> {
    if (!this.#seal.automatic) return;
    try {
      if (await this.openAutomatically()) return;
      this.#opening.start();
    } catch (error) {
      if (!(error instanceof SealKeyUnavailable)) throw error;
      this.#opening.start(error);
    }
  }

  /**
   * Waits for nobody: the keys are forgotten when this returns, requests under way are answered that the server is sealed, and whatever an engine
   * still does can neither read nor write. Resolves when the engines are closed, or have had their time for it.
   */
  seal(): Promise<void> {
    const leave = this.#forgetKeys();
    return this.#exclusively(async () => {
      await leave();
      // An unsealing that was under way may have come to its end in between.
      await this.#forgetKeys()();
    });
  }

  /** Gives scheduled work a moment to store how far it came, then seals and closes the storage. */
  async close(): Promise<void> {
    this.#opening.stop();
    if (this.#open) {
      this.#removals.stop(new Unavailable('Vault is sealed'));
      await waitAtMost(this.#clock, LAST_WORK, this.#runner.stop());
    }
    await this.seal();
    this.#unsubscribe();
    await this.#driver.close();
  }

  /** Opens files of audit devices anew: after log rotation. */
  reopenAuditFiles(): Promise<void> {
    return this.#audit.reopen();
  }

  /** Works off everything that is due now: for tests that move the clock. */
  settleSchedule(): Promise<void> {
    return this.#runner.settle();
  }

  /** The paths of `sys/` and of a mount, for documents made from the declarations. */
  declaredPaths(): { prefix: string; paths: readonly AnyPath[] }[] {
    return this.#mounts.all().map((mount) => ({ prefix: mount.path, paths: mount.router?.paths ?? [] }));
  }

  async openForDevelopment(rootToken: string): Promise<void> {
    await this.#exclusively(async () => {
      if (await this.initialized()) throw new Error('devRootToken is for an empty store; this one is initialised');
      await this.#seal.initialize(
        this.#seal.automatic
          ? { secretShares: undefined, secretThreshold: undefined, recoveryShares: 1, recoveryThreshold: 1 }
          : { secretShares: 1, secretThreshold: 1, recoveryShares: undefined, recoveryThreshold: undefined },
      );
      await this.#start();
      await this.#storeRootToken(rootToken);
    });
  }

  async #initialize(order: InitOrder): Promise<{ keys: readonly Buffer[]; recoveryKeys: readonly Buffer[]; rootToken: string }> {
    const made = await this.#seal.initialize(order);
    try {
      await this.#tokens.open();
      const rootToken = await this.#newRootToken();
      if (this.#seal.automatic) await this.#start();
      return { ...made, rootToken };
    } finally {
      if (!this.#open) {
        this.#tokens.close();
        this.#barrier.seal();
        this.#seal.forget();
      }
    }
  }

  async #start(): Promise<void> {
    if (this.#open) return;
    const began = this.#clock.millis();
    this.#heardWhileClosed = false;
    this.#starting = true;
    try {
      await this.#tokens.open();
      await this.#cluster.open(this.#store, this.#options.clusterName);
      await this.#policies.initialize();
      await this.cors.load();
      await this.#versions.record(VERSION);
      await this.#audit.load();
      await this.#incarnations.begin();
      await this.#mounts.open();
      await this.#removals.resume();
      // Sealed meanwhile.
      if (this.#barrier.sealed) throw new Unavailable('Vault is sealed');
    } catch (error) {
      this.#log.error('the server could not start after unsealing', { error: String(error) });
      this.#incarnations.end();
      await this.#mounts.close()();
      await this.#audit.close();
      this.#tokens.close();
      this.#barrier.seal();
      throw error;
    } finally {
      this.#starting = false;
    }
    this.#cluster.startedAt = this.#clock.now();
    this.#open = true;
    this.#opening.stop();
    this.#runner.start();
    this.#keepHouse();
    if (this.#heardWhileClosed) this.#everythingChanged();
    this.#log.info('unsealed', { millis: this.#clock.millis() - began });
  }

  /** Gives back how to close what ran on the keys. */
  #forgetKeys(): () => Promise<void> {
    if (!this.#open && !this.#starting) return async () => undefined;
    this.#open = false;
    this.#stopHousekeeping?.();
    this.#removals.stop(new Unavailable('Vault is sealed'));
    const work = this.#runner.stop();
    this.#incarnations.end();
    const closeEngines = this.#mounts.close();
    this.#tokens.close();
    this.#barrier.seal();
    this.#seal.forget();
    this.#store.clear();
    this.#log.info('sealed');
    return async () => {
      await closeEngines();
      await waitAtMost(this.#clock, LAST_WORK, work);
      await this.#audit.close();
    };
  }

  #keepHouse(): void {
    this.#stopHousekeeping = this.#clock.after(HOUSEKEEPING, () => {
      const work = async (): Promise<void> => {
        if (await this.#rotation.check()) this.#log.info('the barrier key was rotated');
        await this.#policies.removeExpired();
      };
      work()
        .catch((error: unknown) => this.#log.warn('housekeeping failed', { error: String(error) }))
        .finally(() => {
          if (this.#open) this.#keepHouse();
        });
    });
  }

  /** Another process changed something of which this one keeps a copy. Also called while sealed. */
  #heard(changed: ChangedKeys): void {
    if (!this.#open) {
      this.#heardWhileClosed = true;
      if (changed === EVERYTHING || changed.includes(KEY_RING)) this.#opening.nudge();
    } else if (changed === EVERYTHING) this.#everythingChanged();
    else void this.#takeUp(changed);
  }

  async #takeUp(keys: readonly string[]): Promise<void> {
    try {
      // What is only dropped is dropped at once: nothing that has to be read holds it up.
      for (const key of keys) {
        if (key.startsWith(ROOMS.policies)) {
          this.#policies.invalidate(key.slice(ROOMS.policies.length));
          this.#passwords.invalidate(key.slice(ROOMS.policies.length));
        } else if (key.startsWith(ROOMS.identity)) this.#identity.invalidate(key.slice(ROOMS.identity.length));
        else if (key.startsWith(ROOMS.audit)) this.#audit.invalidate(key.slice(ROOMS.audit.length));
        else this.#mounts.invalidate(key);
      }
      if (keys.includes(KEY_RING)) await this.#barrier.reload();
      if (keys.includes(MOUNTS)) await this.#mounts.reload();
      if (keys.some((key) => key.startsWith(ROOMS.system))) await this.cors.load();
    } catch (error) {
      this.#log.error('a change by another process could not be taken up', { error: String(error) });
      if (this.#barrier.sealed) await this.seal();
      else if (this.#open) this.#everythingChanged();
    }
  }

  /** Any record may be another: no copy counts until all were read anew, and until then no request is answered by one. */
  #everythingChanged(): void {
    const epoch = this.#copies.drop();
    const readAnew = async (): Promise<void> => {
      if (this.#open) await this.#readAnew();
      if (this.#copies.renewed(epoch)) this.#log.info('everything was read anew');
    };
    void this.#exclusively(readAnew).catch((error: unknown) => {
      this.#log.error('the store could not be read anew; trying again', { error: String(error) });
      this.#clock.after(READ_ANEW_AGAIN, () => {
        if (this.#copies.epoch === epoch) this.#everythingChanged();
      });
    });
  }

  /** Within `#exclusively`. */
  async #readAnew(): Promise<void> {
    this.#store.clear();
    this.#policies.invalidateAll();
    this.#passwords.invalidateAll();
    this.#identity.invalidateAll();
    try {
      await this.#barrier.reload();
    } catch (error) {
      if (!this.#barrier.sealed) throw error;
      this.#log.error('the key ring cannot be opened any more: the server seals itself', { error: String(error) });
    }
    if (this.#barrier.sealed) return this.#forgetKeys()();
    await this.#tokens.open();
    await this.#cluster.open(this.#store, this.#options.clusterName);
    await this.#policies.initialize();
    await this.cors.load();
    await this.#audit.readAnew();
    await this.#mounts.readAnew();
  }

  /** Starts engines again: those at these mounts, those of this plugin, or those that may use it. */
  async #reloadPlugins({ plugin, mounts = [] }: { plugin?: string; mounts?: readonly string[] }): Promise<void> {
    const named = mounts.map((path) => {
      const mount = this.#mounts.at(path.endsWith('/') ? path : `${path}/`);
      if (!mount) throw new BadRequest(`no mount entry found for path ${JSON.stringify(path)}`);
      return mount;
    });
    const external = this.#mounts.all().filter((mount) => mount.package && this.#plugins.usable.includes(mount.package));
    const own = external.filter((mount) => mount.package!.name === plugin);
    const isEngine = this.#plugins.usable.some(({ name, kind }) => name === plugin && (kind === 'auth' || kind === 'secret'));
    const meant = mounts.length > 0 ? named : isEngine ? own : external;
    for (const mount of meant) await this.#mounts.restart(mount);
  }

  async #newRootToken(): Promise<string> {
    return this.#storeRootToken(undefined);
  }

  async #storeRootToken(id: string | undefined): Promise<string> {
    const made = await this.#store.transaction(async (tx) =>
      this.#tokens.create(
        tx,
        {
          path: 'auth/token/root',
          policies: ['root'],
          display_name: 'root',
          created: this.#clock.millis(),
          expires: 0,
          creation_ttl: 0,
          renewable: false,
        },
        id,
      ),
    );
    return made.token;
  }

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#changing.then(work, work);
    this.#changing = mine.catch(() => undefined);
    return mine;
  }
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
