import {
  BadRequest,
  Unavailable,
  type EnginePackage,
  type Log,
  type MountIdentity,
  type SecretSources,
  type SourceMount,
  type Clock,
} from '@strongroom/engine-sdk';
import type { UsablePlugins, SystemEngine } from '../plugins/usable-plugins.ts';
import type { Events } from '../events/events.ts';
import { callerMayRead, rightsOfCaller } from '../caller/caller-acl.ts';
import type { OutsideSystems } from '../../kernel/work/outside-systems.ts';
import { MountView, type MountScope } from './mount-view.ts';
import type { Siblings } from '../../kernel/siblings.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { MountEngines } from './mount-engines.ts';
import { checkMountOptions } from './mount-options.ts';
import { checkMountPath } from '../../kernel/mounts/mount-path.ts';
import { mountRecords, type MountConfig, type MountRecord } from '../../kernel/mounts/mount-record.ts';
import { MountRecords } from './mount-records.ts';
import type { Loggers } from '../../kernel/loggers.ts';
import { MountRouter } from '../../kernel/mounts/mount-router.ts';
import { Mount, type SystemLimits } from '../../kernel/mounts/mount.ts';
import { BUILT_IN_MOUNTS, newMountRecord, type NewMount } from './new-mount.ts';

/** How long the requests under way may still take before the mount below them changes; milliseconds. */
const LAST_REQUESTS = 10_000;
const BEFORE_MOVE = 30_000;
const PROTECTED = ['audit/', 'auth/', 'sys/', 'cubbyhole/', 'identity/'];
const DATA = 'logical/';

/** Which engine is where: stored, loaded at unseal, changed by operators, routed to by requests. */
export class MountTable {
  readonly #store: Store;
  readonly #scope: Omit<MountScope, 'uuid' | 'prefix'>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #system: SystemLimits;
  readonly #plugins: UsablePlugins;
  readonly #events: Events;
  readonly #engines: MountEngines;
  readonly #records: MountRecords;
  readonly #revokeBelow: (path: string) => Promise<void>;
  readonly #mayReadWith: SecretSources['mayReadWith'];
  readonly #byUuid = new Map<string, Mount>();
  readonly #byAccessor = new Map<string, Mount>();
  #watchers: readonly Mount[] = [];
  #router = new MountRouter();
  /** One change at a time: two operators' mounts at overlapping paths must not both succeed. */
  #changing: Promise<unknown> = Promise.resolve();
  /** Counts how often the table was closed: work that began before must not fill it again. */
  #session = 0;

  constructor(options: {
    scope: Omit<MountScope, 'uuid' | 'prefix'>;
    clock: Clock;
    log: Log;
    loggers: Loggers;
    system: SystemLimits;
    plugins: UsablePlugins;
    events: Events;
    outside: OutsideSystems;
    siblings: Pick<Siblings, 'configured' | 'number'>;
    /** Engines of `sys/`, `identity/`, `cubbyhole/` and `auth/token/`, by type. */
    builtIn: ReadonlyMap<string, EnginePackage>;
    generatePassword: (policy?: string) => Promise<string>;
    identity: (mount: MountRecord) => MountIdentity;
    clusterId: () => string | undefined;
    isLocked: (mount: MountRecord, name: string) => Promise<boolean>;
    /** Whether a caller of earlier may read a path now: see `SecretSources.mayReadWith`. */
    mayReadWith: SecretSources['mayReadWith'];
    retry: (mount: string, target: string) => Promise<void>;
    /** Resolves when every lease and login token below the path is gone. @throws when one cannot be taken back. */
    revokeBelow: (path: string) => Promise<void>;
  }) {
    this.#store = options.scope.store;
    this.#scope = options.scope;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#system = options.system;
    this.#plugins = options.plugins;
    this.#events = options.events;
    this.#engines = new MountEngines({ ...options, sources: this.#sources });
    this.#records = new MountRecords({ store: options.scope.store, log: options.log });
    this.#revokeBelow = options.revokeBelow;
    this.#mayReadWith = options.mayReadWith;
  }

  route(path: string): { mount: Mount; rest: string } | undefined {
    return this.#router.find(path);
  }

  byUuid(uuid: string): Mount | undefined {
    return this.#byUuid.get(uuid);
  }

  byAccessor(accessor: string): Mount | undefined {
    return this.#byAccessor.get(accessor);
  }

  /** The mount exactly there. */
  at(path: string): Mount | undefined {
    const found = this.#router.find(path);
    return found?.mount.path === path ? found.mount : undefined;
  }

  /** As operators see them: without those that the server made for itself. */
  list(kind: 'secret' | 'auth'): Mount[] {
    return [...this.#byUuid.values()].filter((mount) => mount.class === kind && !mount.ofSystem).sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  all(): Mount[] {
    return [...this.#byUuid.values()];
  }

  /** Mounts whose engines subscribe to secrets. They are few, so a change costs little. */
  watchers(): readonly Mount[] {
    return this.#watchers;
  }

  /** At unseal: loads the table, makes the built-in mounts once, starts every engine. A broken engine harms its mount alone. */
  async open(): Promise<void> {
    const session = this.#session;
    const requireOpen = (): void => {
      if (session !== this.#session) throw new Unavailable('Vault is sealed');
    };
    for (;;) {
      const records = await this.#records.load();
      requireOpen();
      this.#forgetAll();
      for (const record of records) this.#register(this.#build(record));
      const missing = [...BUILT_IN_MOUNTS, ...this.#plugins.systemEngines().map(systemMount)]
        .filter((mount) => !this.at(mount.path))
        .map(({ accessorPrefix, ...mount }) => newMountRecord(mount, accessorPrefix));
      if (missing.length === 0) break;
      // Another process that opens the same empty store may be faster: then its mounts are the ones.
      await this.#records.save(...missing);
      requireOpen();
    }
    const mounts = this.all();
    await Promise.all(mounts.map(async (mount) => this.#engines.start(mount)));
    if (session !== this.#session) await Promise.all(mounts.map(async (mount) => this.#engines.stop(mount)));
    requireOpen();
  }

  /** The server is being sealed: no request is served and no engine reads or writes any more. Gives back how to close the engines. */
  close(): () => Promise<void> {
    const mounts = this.all();
    this.#session += 1;
    for (const mount of mounts) mount.end(new Unavailable('Vault is sealed'));
    this.#forgetAll();
    return async () => {
      await Promise.all(mounts.map(async (mount) => this.#engines.stop(mount)));
    };
  }

  /**
   * Resolves with what the engine warns of. `vet` may refuse the mount by a throw when its engine has started. `request`: the id of the request that asks
   * for it, here and below.
   * @throws BadRequest with Vault's and OpenBao's texts
   */
  async mount(asked: NewMount, { vet, request }: { vet?: (mount: Mount) => void; request?: string } = {}): Promise<readonly string[]> {
    return this.#changingTable(async () => {
      const { pkg, type, options } = this.#engines.resolve(asked);
      if (asked.class === 'secret') {
        for (const place of PROTECTED) if (asked.path.startsWith(place)) throw new BadRequest(`cannot mount "${asked.path}"`);
      }
      checkMountPath(asked.path, asked.class);
      const overlapping = this.#router.overlapping(asked.path);
      if (overlapping) throw new BadRequest(`path is already in use at ${displayPath(overlapping)}`);
      const warnings = checkMountOptions(pkg, options);
      const record = newMountRecord(
        { ...asked, type, ...(Object.keys(options).length > 0 ? { options } : {}) },
        accessorPrefix(asked.class, type),
      );
      this.checkLimits(record.config);
      const mount = this.#build(record);
      await this.#engines.startNew(mount);
      let stored = false;
      try {
        vet?.(mount);
        stored = await this.#records.save(record);
      } finally {
        if (!stored) {
          await this.#engines.stop(mount);
          await this.#wipe(`${DATA}${mount.uuid}/`);
        }
      }
      if (!stored) return STALE;
      this.#register(mount);
      this.#tell('enabled', record, { request });
      return warnings;
    });
  }

  /** Tunes a mount: `change` gets a copy of the record. Resolves with what the engine warns of. */
  async tune(path: string, change: (record: MountRecord) => void, request?: string): Promise<readonly string[]> {
    const { mount, warnings } = await this.#changingTable(async () => {
      const found = this.at(path);
      if (!found) throw new BadRequest(`tune of path "${path}" failed: no mount entry found`);
      const next = structuredClone(found.record);
      change(next);
      this.checkLimits(next.config);
      const warned = checkMountOptions(found.package, next.options ?? {}, found.record.options ?? {});
      if (!(await this.#records.save(next))) return STALE;
      found.record = next;
      this.#tell('tuned', next, { request });
      return { mount: found, warnings: warned };
    });
    await this.#engines.tuned(mount);
    return warnings;
  }

  /** Moves a mount; what it issued is taken back first, as Vault and OpenBao do. No request reaches it meanwhile. */
  async move(from: string, to: string, request?: string): Promise<void> {
    const mount = this.#movable(from, to);
    await mount.exclusively(async () => {
      mount.paused = true;
      try {
        // Whatever an outside system makes of it: other mounts can be changed meanwhile.
        await mount.idle(this.#clock, BEFORE_MOVE);
        await this.#revokeBelow(from);
        await this.#changingTable(async () => {
          if (this.#movable(from, to, mount) !== mount) throw new BadRequest(`no matching mount at "${from}"`);
          const next = { ...mount.record, path: to };
          if (!(await this.#records.save(next))) return STALE;
          this.#router.remove(from);
          mount.record = next;
          this.#router.add(mount);
          this.#tell('moved', next, { from, request });
          return undefined;
        });
      } finally {
        mount.paused = false;
      }
    });
  }

  /** The mount that may be moved there now. @throws BadRequest, Unavailable while it is being moved or its engine restarted */
  #movable(from: string, to: string, mover?: Mount): Mount {
    const mount = this.at(from);
    if (!mount) throw new BadRequest(`no matching mount at "${from}"`);
    if (mount.removing) throw new BadRequest(`the mount at "${from}" is being removed; cancel that first`);
    if (mount.paused && mount !== mover) throw new Unavailable(`the mount ${mount.path} is being changed; try again`);
    checkMountPath(to, mount.class);
    if (this.#router.overlapping(to, mount)) throw new BadRequest(`path in use at "${to}"`);
    return mount;
  }

  /**
   * Begins or cancels the removal of a mount. `beside` is part of the commit, and may refuse it by a throw. The requests under way end with a removal's
   * beginning; later ones are served. Undefined where there is no such mount.
   */
  async setRemoving(
    path: string,
    removing: boolean,
    beside: (tx: StoreTransaction, mount: Mount) => Promise<void>,
  ): Promise<Mount | undefined> {
    return this.#changingTable(async () => {
      const mount = this.at(path);
      if (!mount) return undefined;
      const { tainted: _, ...rest } = mount.record;
      const next: MountRecord = removing ? { ...rest, tainted: true } : rest;
      const saved = await this.#records.commit(async (tx) => {
        mountRecords.put(tx, next.uuid, next);
        await beside(tx, mount);
      });
      if (!saved) return STALE;
      const began = removing && !mount.removing;
      mount.record = next;
      if (began) endRequests(mount);
      return mount;
    });
  }

  /**
   * Takes the mount out of the table, whose engines that follow secrets hear of it in the same commit; its records stay behind. `beside` is part of the
   * commit, and may refuse it by a throw. A subscriber that throws refuses it too, unless the removal is forced. Resolves when its engine is closed.
   */
  async drop(mount: Mount, beside: (tx: StoreTransaction) => Promise<void>, { forced }: { forced: boolean }): Promise<void> {
    let unheard = false;
    await this.#changingTable(async () => {
      const commit = async (): Promise<boolean> =>
        this.#records.commit(async (tx) => {
          await beside(tx);
          mountRecords.delete(tx, mount.uuid);
          if (unheard) return;
          try {
            await this.#scope.watchers.unmounted(tx, mount);
          } catch (error) {
            unheard = forced;
            throw error;
          }
        });
      const saved = await commit().catch(async (error: unknown) => {
        if (!unheard) throw error;
        this.#log.error('engines that follow secrets could not take note of a forced removal', { mount: mount.path, error: String(error) });
        return commit();
      });
      if (!saved) return STALE;
      this.#router.remove(mount.path);
      this.#forget(mount);
      this.#tell('disabled', mount.record);
      return undefined;
    });
    await this.#leave(mount);
  }

  /** `from`: where it was before, which whoever knows it as that may learn too. */
  #tell(
    change: 'enabled' | 'tuned' | 'moved' | 'disabled',
    record: MountRecord,
    { from = record.path, request }: { from?: string; request?: string | undefined } = {},
  ): void {
    const above = [...new Set([record.path, from])].map((path) => `sys/${record.class === 'auth' ? path : `mounts/${path}`}`);
    this.#events.publish({
      kind: `mount.${change}`,
      above: above.map((path) => path.slice(0, -1)),
      name: record.path,
      ...(request === undefined ? {} : { request }),
    });
  }

  /** Deletes the records of a mount that is no longer in the table. */
  async wipe(uuid: string): Promise<void> {
    await this.#wipe(`${DATA}${uuid}/`);
  }

  /** Closes and starts the engine again: for a mount that was quarantined, or a plugin that is to be reloaded. */
  async restart(mount: Mount): Promise<void> {
    await mount.exclusively(async () => {
      if (this.#byUuid.get(mount.uuid) !== mount) return;
      mount.paused = true;
      try {
        await mount.idle(this.#clock, LAST_REQUESTS);
        await this.#engines.stop(mount);
        await this.#engines.start(mount);
      } finally {
        mount.paused = false;
      }
      // Sealed or removed meanwhile: nobody else would close it.
      if (this.#byUuid.get(mount.uuid) !== mount) await this.#engines.stop(mount);
    });
  }

  /** Another process changed the table: take up what is new, let go of what is gone. Engines are started and closed afterwards, each for itself. */
  async reload(): Promise<void> {
    await this.#exclusively(async () => this.#look());
  }

  /**
   * It is unknown what changed: takes up the table as it is now, and starts every engine again that keeps copies of its records. Resolves when no
   * request reaches a mount that is gone or an engine that is not yet new.
   */
  async readAnew(): Promise<void> {
    await this.reload();
    const keeping = this.all().filter((mount) => mount.engine?.invalidate !== undefined);
    for (const mount of keeping) mount.paused = true;
    const again = Promise.all(keeping.map(async (mount) => this.restart(mount)));
    again.catch((error: unknown) => this.#log.error('engines could not be restarted', { error: String(error) }));
  }

  async #look(): Promise<void> {
    const session = this.#session;
    const records = await this.#records.load();
    // Sealed meanwhile.
    if (session !== this.#session) return;
    const seen = new Set<string>();
    for (const record of records) {
      seen.add(record.uuid);
      const mount = this.#byUuid.get(record.uuid);
      if (!mount) {
        const added = this.#build(record);
        this.#register(added);
        void this.#startAdded(added);
      } else if (JSON.stringify(mount.record) !== JSON.stringify(record)) {
        const began = record.tainted === true && !mount.removing;
        mount.record = record;
        if (began) endRequests(mount);
        void this.#takeUp(mount);
      }
    }
    const gone = this.all().filter((mount) => !seen.has(mount.uuid));
    for (const mount of gone) this.#forget(mount);
    // Mounts may have changed places, so the routes are made again.
    const router = new MountRouter();
    for (const mount of this.all()) router.add(mount);
    this.#router = router;
    for (const mount of gone) void this.#leave(mount);
  }

  async #startAdded(mount: Mount): Promise<void> {
    await mount.exclusively(async () => {
      await this.#engines.start(mount);
      if (this.#byUuid.get(mount.uuid) !== mount) await this.#engines.stop(mount);
    });
  }

  /** The new settings hold whether the engine takes them up or not. */
  async #takeUp(mount: Mount): Promise<void> {
    await this.#engines.tuned(mount).catch((error: unknown) => {
      this.#log.error('an engine did not apply its new settings', { mount: mount.path, error: String(error) });
    });
  }

  /** The mount is no longer in the table: its last requests end, then its engine is closed. */
  async #leave(mount: Mount): Promise<void> {
    endRequests(mount);
    mount.ending.end(new Unavailable(`the mount ${mount.path} was removed`));
    await mount.idle(this.#clock, LAST_REQUESTS);
    await mount.exclusively(async () => this.#engines.stop(mount));
  }

  /** Another process changed a cached record of an engine. */
  invalidate(key: string): void {
    if (!key.startsWith(DATA)) return;
    const slash = key.indexOf('/', DATA.length);
    this.#byUuid.get(key.slice(DATA.length, slash))?.engine?.invalidate?.(key.slice(slash + 1));
  }

  /** @throws BadRequest where the limits contradict each other or the system's. */
  checkLimits(config: Pick<MountConfig, 'default_lease_ttl' | 'max_lease_ttl'>): void {
    const most = config.max_lease_ttl || this.#system.maxLeaseTtl;
    if (config.default_lease_ttl > most) {
      if (config.max_lease_ttl) {
        throw new BadRequest(
          `backend max lease TTL of ${config.max_lease_ttl} would be less than backend default lease TTL of ${config.default_lease_ttl}`,
        );
      }
      throw new BadRequest(`given default lease TTL greater than system max lease TTL of ${this.#system.maxLeaseTtl}`);
    }
  }

  #build(record: MountRecord): Mount {
    const view = (): MountView => new MountView({ ...this.#scope, uuid: record.uuid, prefix: `${DATA}${record.uuid}/` });
    const pkg = this.#engines.packageOf(record);
    const external = pkg !== undefined && !this.#engines.isBuiltIn(pkg);
    return new Mount(record, pkg, view, this.#system, { external });
  }

  readonly #sources: SecretSources = {
    at: (path) => sourceMount(this.at(path.endsWith('/') ? path : `${path}/`)),
    byUuid: (uuid) => sourceMount(this.byUuid(uuid)),
    byAccessor: (accessor) => sourceMount(this.byAccessor(accessor)),
    mayRead: callerMayRead,
    standingRights: rightsOfCaller,
    mayReadWith: async (rights, path) => this.#mayReadWith(rights, path),
  };

  #register(mount: Mount): void {
    this.#byUuid.set(mount.uuid, mount);
    this.#byAccessor.set(mount.accessor, mount);
    if (mount.package?.subscribesToSecrets === true) this.#watchers = [...this.#watchers, mount];
    this.#router.add(mount);
  }

  #forgetAll(): void {
    this.#router = new MountRouter();
    this.#byUuid.clear();
    this.#byAccessor.clear();
    this.#watchers = [];
  }

  #forget(mount: Mount): void {
    this.#byUuid.delete(mount.uuid);
    this.#byAccessor.delete(mount.accessor);
    this.#watchers = this.#watchers.filter((other) => other !== mount);
  }

  /** One change at a time; one that finds the table changed by another process reads it again and starts over. */
  async #changingTable<T>(change: () => Promise<T | typeof STALE>): Promise<T> {
    return this.#exclusively(async () => {
      for (;;) {
        const done = await change();
        if (done !== STALE) return done as T;
        await this.#look();
      }
    });
  }

  async #wipe(prefix: string): Promise<void> {
    for (;;) {
      const keys = await this.#store.keys({ prefix, limit: 1_000 });
      if (keys.length === 0) return;
      await this.#store.transaction(async (tx) => {
        for (const key of keys) tx.delete(key);
      });
    }
  }

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#changing;
    const mine = before.then(work, work);
    this.#changing = mine.catch(() => undefined);
    return mine;
  }
}

const STALE = Symbol('the table changed');

/** What they wait for will not come, and nothing is issued any more. */
function endRequests(mount: Mount): void {
  mount.endRequests(new Unavailable(`the mount ${mount.path} is being removed`));
}

/** Paths of login methods are shown without the leading `auth/`. */
function displayPath(mount: Mount): string {
  return mount.class === 'auth' ? mount.path.slice('auth/'.length) : mount.path;
}

/** What the server mounts for a package that has a place below `sys/`. */
function systemMount(pkg: SystemEngine): NewMount & { accessorPrefix: string } {
  return { path: pkg.system.path, class: pkg.kind, type: pkg.name, accessorPrefix: pkg.name };
}

function sourceMount(mount: Mount | undefined): SourceMount | undefined {
  if (!mount) return undefined;
  const source = mount.engine?.source;
  return source ? { mount, source } : { mount };
}

function accessorPrefix(kind: 'secret' | 'auth', type: string): string {
  return kind === 'auth' ? `auth_${type}` : type;
}
