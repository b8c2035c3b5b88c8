import {
  BadRequest,
  Unavailable,
  type EnginePackage,
  type Log,
  type SecretSources,
  type SourceMount,
  type Clock,
} from '@strongroom/engine-sdk';
import type { UsablePlugins, SystemEngine } from '../plugins/usable-plugins.ts';
import { callerMayRead } from '../request/caller-acl.ts';
import type { TargetGate } from '../schedule/target-gate.ts';
import { MountView, type MountScope } from '../storage/mount-view.ts';
import type { Store } from '../storage/store.ts';
import { MountEngines } from './mount-engines.ts';
import { checkMountPath } from './mount-path.ts';
import { MOUNTS, type MountConfig, type MountRecord } from './mount-record.ts';
import { MountRecords } from './mount-records.ts';
import { MountRouter } from './mount-router.ts';
import { Mount, type SystemLimits } from './mount.ts';
import { BUILT_IN_MOUNTS, newMountRecord, type NewMount } from './new-mount.ts';

/** Longer than any request. */
const LAST_REQUEST = 95_000;
const LAST_BEFORE_RESTART = 10_000;
const PROTECTED = ['audit/', 'auth/', 'sys/', 'cubbyhole/', 'identity/'];
const DATA = 'logical/';

/** What takes back everything that a mount issued, before its storage goes. */
export interface MountCleaner {
  /** Resolves when every lease and login token below the path is gone. @throws when one cannot be taken back. */
  revokeBelow(path: string): Promise<void>;
  /** Resolves when no outside change of the mount is unfinished. @throws when one cannot be undone. */
  undo(mount: Mount): Promise<void>;
  forget(mount: Mount): Promise<void>;
}

/** Which engine is where: stored, loaded at unseal, changed by operators, routed to by requests. */
export class MountTable {
  readonly #store: Store;
  readonly #scope: Omit<MountScope, 'uuid' | 'prefix'>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #system: SystemLimits;
  readonly #plugins: UsablePlugins;
  readonly #engines: MountEngines;
  readonly #records: MountRecords;
  readonly #cleaner: MountCleaner;
  readonly #byUuid = new Map<string, Mount>();
  readonly #byAccessor = new Map<string, Mount>();
  #followers: readonly Mount[] = [];
  #router = new MountRouter();
  /** One change at a time: two operators' mounts at overlapping paths must not both succeed. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(options: {
    scope: Omit<MountScope, 'uuid' | 'prefix'>;
    clock: Clock;
    log: Log;
    system: SystemLimits;
    plugins: UsablePlugins;
    gate: TargetGate;
    /** Engines of `sys/`, `identity/`, `cubbyhole/` and `auth/token/`, by type. */
    builtIn: ReadonlyMap<string, EnginePackage>;
    generatePassword: (policy?: string) => Promise<string>;
    retry: (mount: string, target: string) => Promise<void>;
    cleaner: MountCleaner;
  }) {
    this.#store = options.scope.store;
    this.#scope = options.scope;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#system = options.system;
    this.#plugins = options.plugins;
    this.#engines = new MountEngines({ ...options, sources: this.#sources });
    this.#records = new MountRecords({ store: options.scope.store, log: options.log });
    this.#cleaner = options.cleaner;
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

  /** Those whose engines follow secrets. Few, so that an announcement costs little. */
  followers(): readonly Mount[] {
    return this.#followers;
  }

  /** At unseal: loads the table, makes the built-in mounts once, starts every engine. A broken engine harms its mount alone. */
  async open(): Promise<void> {
    for (;;) {
      this.#forgetAll();
      for (const record of await this.#records.load()) this.#register(this.#build(record));
      const missing = [...BUILT_IN_MOUNTS, ...this.#plugins.systemEngines().map(systemMount)]
        .filter((mount) => !this.at(mount.path))
        .map(({ accessorPrefix, ...mount }) => newMountRecord(mount, accessorPrefix));
      if (missing.length === 0) break;
      // Another process that opens the same empty store may be faster: then its mounts are the ones.
      await this.#records.save(...missing);
    }
    await Promise.all(this.all().map(async (mount) => this.#engines.start(mount)));
  }

  /** Finishes unmounts that a crash cut short. */
  async finishUnmounts(): Promise<void> {
    for (const mount of this.all())
      if (mount.tainted) await this.unmount(mount.path).catch((error: unknown) => this.#log.error(String(error)));
  }

  /** The server is being sealed. */
  async close(): Promise<void> {
    const mounts = this.all();
    for (const mount of mounts) mount.ending.end(new Unavailable('Vault is sealed'));
    this.#forgetAll();
    await Promise.all(mounts.map(async (mount) => this.#engines.stop(mount)));
  }

  /** @throws BadRequest with the incumbents' texts */
  async mount(asked: NewMount): Promise<Mount> {
    return this.#changingTable(async () => {
      const { pkg, type, options } = this.#engines.resolve(asked);
      if (asked.class === 'secret') {
        for (const place of PROTECTED) if (asked.path.startsWith(place)) throw new BadRequest(`cannot mount "${asked.path}"`);
      }
      checkMountPath(asked.path, asked.class);
      const overlapping = this.#router.overlapping(asked.path);
      if (overlapping) throw new BadRequest(`path is already in use at ${displayPath(overlapping)}`);
      pkg.checkOptions?.(options);
      const record = newMountRecord(
        { ...asked, type, ...(Object.keys(options).length > 0 ? { options } : {}) },
        accessorPrefix(asked.class, type),
      );
      this.checkLimits(record.config);
      const mount = this.#build(record);
      await this.#engines.startNew(mount);
      let stored = false;
      try {
        stored = await this.#records.save(record);
      } finally {
        if (!stored) {
          await this.#engines.stop(mount);
          await this.#wipe(`${DATA}${mount.uuid}/`);
        }
      }
      if (!stored) return STALE;
      this.#register(mount);
      return mount;
    });
  }

  /** Tunes a mount: `change` gets a copy of the record. */
  async tune(path: string, change: (record: MountRecord) => void): Promise<void> {
    const mount = await this.#changingTable(async () => {
      const found = this.at(path);
      if (!found) throw new BadRequest(`tune of path "${path}" failed: no mount entry found`);
      const next = structuredClone(found.record);
      change(next);
      this.checkLimits(next.config);
      found.package?.checkOptions?.(next.options ?? {}, found.record.options ?? {});
      if (!(await this.#records.save(next))) return STALE;
      found.record = next;
      return found;
    });
    await mount.engine?.tuned?.();
  }

  /** Moves a mount; what it issued is taken back first, as the incumbents do. No request reaches it meanwhile. */
  async move(from: string, to: string): Promise<void> {
    await this.#changingTable(async () => {
      const mount = this.at(from);
      if (!mount || mount.tainted) throw new BadRequest(`no matching mount at "${from}"`);
      checkMountPath(to, mount.class);
      if (this.#router.overlapping(to, mount)) throw new BadRequest(`path in use at "${to}"`);
      mount.paused = true;
      try {
        await mount.idle(this.#clock, LAST_REQUEST);
        await this.#cleaner.revokeBelow(from);
        const next = { ...mount.record, path: to };
        if (!(await this.#records.save(next))) return STALE;
        this.#router.remove(from);
        mount.record = next;
        this.#router.add(mount);
        return undefined;
      } finally {
        mount.paused = false;
      }
    });
  }

  /** Takes back all that the mount issued, then removes it with its storage. An unknown path is no error. */
  async unmount(path: string): Promise<void> {
    await this.#changingTable(async () => {
      const mount = this.at(path);
      if (!mount) return undefined;
      if (!mount.tainted) {
        const tainted = { ...mount.record, tainted: true };
        const saved = await this.#records.commit(async (tx) => {
          tx.put(MOUNTS + tainted.uuid, tainted);
          await this.#scope.followers.unmounted(tx, mount);
        });
        if (!saved) return STALE;
        mount.record = tainted;
      }
      endRequests(mount);
      await mount.idle(this.#clock, LAST_REQUEST);
      await this.#cleaner.revokeBelow(mount.path);
      await this.#cleaner.undo(mount);
      this.#router.remove(path);
      await this.#engines.stop(mount);
      await this.#cleaner.forget(mount);
      await this.#wipe(`${DATA}${mount.uuid}/`);
      while (!(await this.#records.remove(mount.uuid))) await this.#look();
      this.#forget(mount);
      return undefined;
    });
  }

  /** Closes and starts the engine again: for a mount that was quarantined, or a plugin that is to be reloaded. */
  async restart(mount: Mount): Promise<void> {
    await this.#exclusively(async () => this.#startAnew(mount));
  }

  async #startAnew(mount: Mount): Promise<void> {
    mount.paused = true;
    try {
      await mount.idle(this.#clock, LAST_BEFORE_RESTART);
      await this.#engines.stop(mount);
      await this.#engines.start(mount);
    } finally {
      mount.paused = false;
    }
  }

  /** Another process changed the table: take up what is new, let go of what is gone. */
  async reload(): Promise<void> {
    await this.#exclusively(async () => this.#look());
  }

  /**
   * Nobody knows what changed: takes up the table as it is now, and starts every engine anew that keeps copies of its records. Resolves when no
   * request reaches a mount that is gone or an engine that is not yet new.
   */
  async readAnew(): Promise<void> {
    await this.reload();
    const keeping = this.all().filter((mount) => mount.engine?.invalidate !== undefined);
    for (const mount of keeping) mount.paused = true;
    const anew = this.#exclusively(async () => Promise.all(keeping.map(async (mount) => this.#startAnew(mount))));
    anew.catch((error: unknown) => this.#log.error('engines could not be started anew', { error: String(error) }));
  }

  async #look(): Promise<void> {
    const seen = new Set<string>();
    const tuned: Mount[] = [];
    for (const record of await this.#records.load()) {
      seen.add(record.uuid);
      const mount = this.#byUuid.get(record.uuid);
      if (!mount) {
        const added = this.#build(record);
        await this.#engines.start(added);
        this.#register(added);
      } else if (JSON.stringify(mount.record) !== JSON.stringify(record)) {
        mount.record = record;
        if (mount.tainted) endRequests(mount);
        tuned.push(mount);
      }
    }
    const gone = this.all().filter((mount) => !seen.has(mount.uuid));
    for (const mount of gone) {
      this.#forget(mount);
      endRequests(mount);
    }
    // Mounts may have changed places, so the routes are made anew.
    const router = new MountRouter();
    for (const mount of this.all()) router.add(mount);
    this.#router = router;
    for (const mount of gone) {
      await mount.idle(this.#clock, LAST_BEFORE_RESTART);
      await this.#engines.stop(mount);
    }
    for (const mount of tuned) await this.#engines.tuned(mount);
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
    const view = new MountView({ ...this.#scope, uuid: record.uuid, prefix: `${DATA}${record.uuid}/` });
    return new Mount(record, this.#engines.packageOf(record), view, this.#system);
  }

  readonly #sources: SecretSources = {
    at: (path) => sourceMount(this.at(path.endsWith('/') ? path : `${path}/`)),
    byUuid: (uuid) => sourceMount(this.byUuid(uuid)),
    byAccessor: (accessor) => sourceMount(this.byAccessor(accessor)),
    mayRead: callerMayRead,
  };

  #register(mount: Mount): void {
    this.#byUuid.set(mount.uuid, mount);
    this.#byAccessor.set(mount.accessor, mount);
    if (mount.package?.followsSecrets === true) this.#followers = [...this.#followers, mount];
    this.#router.add(mount);
  }

  #forgetAll(): void {
    this.#router = new MountRouter();
    this.#byUuid.clear();
    this.#byAccessor.clear();
    this.#followers = [];
  }

  #forget(mount: Mount): void {
    this.#byUuid.delete(mount.uuid);
    this.#byAccessor.delete(mount.accessor);
    this.#followers = this.#followers.filter((other) => other !== mount);
  }

  /** One change at a time; one that finds the table changed by another process looks at it again and starts over. */
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
  mount.ending.end(new Unavailable(`the mount ${mount.path} is being removed`));
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
  if (!mount || mount.tainted) return undefined;
  const source = mount.engine?.source;
  return source ? { mount, source } : { mount };
}

function accessorPrefix(kind: 'secret' | 'auth', type: string): string {
  return kind === 'auth' ? `auth_${type}` : type;
}
