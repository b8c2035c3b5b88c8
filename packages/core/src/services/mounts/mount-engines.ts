import {
  BadRequest,
  foreignText,
  own,
  thrownText,
  Unavailable,
  withDeadline,
  type Clock,
  type CodeOwner,
  type EngineHost,
  type EnginePackage,
  type Log,
  type MountIdentity,
  type SecretSources,
} from '@strongroom/engine-sdk';
import { limitTerms } from '../../kernel/mounts/lease-terms.ts';
import type { UsablePlugins } from '../plugins/usable-plugins.ts';
import { targetKey, type OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { MountRecord } from '../../kernel/mounts/mount-record.ts';
import { shareOf } from '../../kernel/share-of-limit.ts';
import type { Siblings } from '../../kernel/siblings.ts';
import type { Loggers } from '../../kernel/loggers.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { NewMount } from './new-mount.ts';
import { randomBytes } from '../../kernel/random/random-bytes.ts';

/** How long an engine may take to start; milliseconds. */
const START = 30_000;
/** And how long to close, or to take up new settings: the caller of an operation on the mount is waiting. */
const CLOSE = 10_000;
const TUNE = 30_000;

/** The engines of mounts: found, given their host, started and closed. A broken engine harms its mount alone. */
export class MountEngines {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #loggers: Loggers;
  readonly #plugins: UsablePlugins;
  readonly #outside: OutsideSystems;
  readonly #siblings: Pick<Siblings, 'configured' | 'number'>;
  readonly #builtIn: ReadonlyMap<string, EnginePackage>;
  readonly #generatePassword: (policy?: string) => Promise<string>;
  readonly #identity: (mount: MountRecord) => MountIdentity;
  readonly #clusterId: () => string | undefined;
  readonly #isLocked: (mount: MountRecord, name: string) => Promise<boolean>;
  readonly #sources: SecretSources;
  readonly #retry: (mount: string, target: string) => Promise<void>;

  constructor(options: {
    clock: Clock;
    log: Log;
    loggers: Loggers;
    plugins: UsablePlugins;
    outside: OutsideSystems;
    siblings: Pick<Siblings, 'configured' | 'number'>;
    /** Engines of `sys/`, `identity/`, `cubbyhole/` and `auth/token/`, by type. */
    builtIn: ReadonlyMap<string, EnginePackage>;
    generatePassword: (policy?: string) => Promise<string>;
    /** How a mount is known outside. */
    identity: (mount: MountRecord) => MountIdentity;
    /** Undefined while nobody has initialized the server. */
    clusterId: () => string | undefined;
    isLocked: (mount: MountRecord, name: string) => Promise<boolean>;
    /** What engines that follow secrets may look at. */
    sources: SecretSources;
    /** Makes what waits for an outside system of a mount, which is given by its uuid, due now. */
    retry: (mount: string, target: string) => Promise<void>;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#loggers = options.loggers;
    this.#plugins = options.plugins;
    this.#outside = options.outside;
    this.#siblings = options.siblings;
    this.#builtIn = options.builtIn;
    this.#generatePassword = options.generatePassword;
    this.#identity = options.identity;
    this.#clusterId = options.clusterId;
    this.#isLocked = options.isLocked;
    this.#sources = options.sources;
    this.#retry = options.retry;
  }

  packageOf({ class: kind, type }: { class: 'secret' | 'auth'; type: string }): EnginePackage | undefined {
    return this.#builtIn.get(type) ?? this.#plugins.engines().find((known) => known.kind === kind && known.name === type);
  }

  /** Whether the engine came with the server. */
  isBuiltIn(pkg: EnginePackage): boolean {
    return this.#plugins.isBuiltIn(pkg);
  }

  /**
   * What an operator's words for a new mount mean: an alias of an engine stands for its options, whatever else is asked for.
   * @throws BadRequest for a type that is not there, or that operators cannot mount, with Vault's and OpenBao's texts
   */
  resolve(asked: NewMount): { pkg: EnginePackage; type: string; options: Record<string, string> } {
    if (asked.type === '') throw new BadRequest('backend type must be specified as a string');
    if (asked.class === 'auth' && asked.type === 'token') throw new BadRequest('token credential backend cannot be instantiated');
    const ofServer = [...this.#builtIn.keys(), ...this.#plugins.systemEngines().map(({ name }) => name)];
    if (ofServer.includes(asked.type)) throw new BadRequest(`mount type of "${asked.type}" is not mountable`);
    for (const pkg of this.#plugins.engines()) {
      if (pkg.kind !== asked.class) continue;
      const implied = pkg.name === asked.type ? {} : own(pkg.aliases, asked.type);
      if (implied) return { pkg, type: pkg.name, options: { ...asked.options, ...implied } };
    }
    throw new BadRequest(this.#plugins.reasonFor(asked.class, asked.type) ?? `plugin not found in the catalog: ${asked.type}`);
  }

  /** Starts the engine of a mount, or puts the mount in quarantine with the reason. */
  async start(mount: Mount): Promise<void> {
    try {
      await this.startNew(mount);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      mount.quarantine = reason;
      this.#log.error('a mount is quarantined because its engine does not start', { mount: mount.path, type: mount.type, reason });
    }
  }

  /** Starts the engine of a mount. @throws what the engine throws, after closing it */
  async startNew(mount: Mount): Promise<void> {
    mount.quarantine = undefined;
    try {
      if (!mount.package)
        throw new Error(this.#plugins.reasonFor(mount.class, mount.type) ?? `no plugin of type ${mount.type} is installed`);
      const pkg = mount.package;
      mount.owner = this.#builtIn.has(mount.type) ? undefined : this.#ownerOf(mount, pkg);
      mount.renewStorage(stopped(mount));
      const engine = mount.run(() => pkg.create(this.#host(mount)));
      mount.use(engine);
      if (engine.initialize)
        await withDeadline({ clock: this.#clock, millis: START }, async () => mount.run(async () => engine.initialize?.()));
    } catch (error) {
      await this.stop(mount);
      throw error;
    }
  }

  /** Closes the engine. One that does not close in time is left to itself: it can no longer reach the store. Never throws. */
  async stop(mount: Mount): Promise<void> {
    const { engine } = mount;
    try {
      if (engine?.close) await withDeadline({ clock: this.#clock, millis: CLOSE }, async () => engine.close?.());
    } catch (error) {
      this.#log.warn('an engine failed to close', { mount: mount.path, error: String(error) });
    }
    mount.storage.close(stopped(mount));
    mount.use(undefined);
  }

  /** Tells the engine of new settings of its mount, which hold whether it takes them up or not. @throws what the engine throws */
  async tuned(mount: Mount): Promise<void> {
    const { engine } = mount;
    if (engine?.tuned) await withDeadline({ clock: this.#clock, millis: TUNE }, async () => engine.tuned?.());
  }

  /** What the engine leaks puts its mount quarantined, until its plugin is reloaded: its state is unknown. */
  #ownerOf(mount: Mount, { code = [] }: EnginePackage): CodeOwner {
    return {
      code,
      leaked: (error) => {
        const reason = `the engine threw after its call had ended: ${foreignText(thrownText(error))}`;
        mount.quarantine = reason;
        this.#log.error('a mount is quarantined because of its engine', { mount: mount.path, type: mount.type, reason });
        void this.stop(mount);
      },
    };
  }

  #host(mount: Mount): EngineHost {
    return {
      mount,
      storage: mount.storage,
      clock: this.#clock,
      log: prefixed(this.#loggers.named(loggerOf(mount)), mount),
      plugins: (kind) => this.#plugins.usable.filter((plugin) => plugin.kind === kind),
      refusedPlugins: (kind) => this.#plugins.unusable(kind),
      circuit: (target) => this.#outside.circuit(targetKey(mount.uuid, target), target),
      retry: async (target) => this.#retry(mount.uuid, target),
      shareOf: (limit) => shareOf(limit, { of: this.#siblings.configured, rank: this.#siblings.number - 1 }),
      clusterId: () => this.#clusterId(),
      randomBytes: (count) => randomBytes(count),
      generatePassword: this.#generatePassword,
      identity: this.#identity(mount.record),
      isLocked: async (name) => this.#isLocked(mount.record, name),
      limit: (terms) => limitTerms(mount, terms),
      ...(mount.package?.subscribesToSecrets === true ? { sources: this.#sources } : {}),
    };
  }
}

/** The error for an engine that continues after it was stopped. */
function stopped(mount: Mount): Unavailable {
  return new Unavailable(`this engine of the mount ${mount.path} was stopped`);
}

/** `secret.kv.kv_1a2b3c4d`: the name of the log that the engine of a mount writes to. */
export function loggerOf({ class: kind, type, accessor }: Pick<Mount, 'class' | 'type' | 'accessor'>): string {
  return `${kind}.${type}.${accessor}`;
}

function prefixed(log: Log, mount: Mount): Log {
  const fields = (more?: Readonly<Record<string, unknown>>): Record<string, unknown> => ({ mount: mount.path, ...more });
  return {
    debug: (message, more) => log.debug(message, fields(more)),
    info: (message, more) => log.info(message, fields(more)),
    warn: (message, more) => log.warn(message, fields(more)),
    error: (message, more) => log.error(message, fields(more)),
  };
}
