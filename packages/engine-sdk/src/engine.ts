import type { TObject } from 'typebox';
import type { AuthRenewal, RenewedAuth } from './auth.ts';
import type { Circuit } from './circuit.ts';
import type { Clock } from './clock.ts';
import type { AnyIntent } from './intent.ts';
import type { Log } from './log.ts';
import type { OutsideThing } from './outside-thing.ts';
import type { AnyPath } from './path.ts';
import type { AnySchedule } from './schedule.ts';
import type { SecretSubscriber, SecretSource, SecretSources } from './secret-source.ts';
import type { AnySecretType } from './secret-type.ts';
import type { StorageView } from './storage-view.ts';
import type { MountInfo } from './mount-info.ts';

/** The plugin API this SDK speaks; checked before any plugin code runs. */
export const API_VERSION = 1;

/** Anything that a server lists: engines, database plugins, sync destinations, audit devices. Importing one does nothing. */
export interface Plugin {
  /** What operators write: a mount type, a `plugin_name`. */
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: number;
  /** Semantic version of the package; shown in the catalogue. */
  readonly version?: string;
  /**
   * Where the code is that runs for the plugin: names of packages, and folders as `file:` URLs (`new URL('.', import.meta.url).href`). An exception that
   * nobody catches is known for the plugin's by its stack, and harms only what the plugin runs. For plugins that the configuration names, the
   * server adds the folder of their package.
   */
  readonly code?: readonly string[];
}

/** A plugin that this server cannot use: built for another API, or not installed. Nothing of it has run. */
export interface RefusedPlugin {
  readonly plugin: Plugin;
  /** For operators, with the plugin's name. */
  readonly reason: string;
}

/** What an engine brings to one mount. Every hook but `paths` is optional. */
export interface Engine {
  /** May be a getter: another array counts from the next request on. The same paths are always the same array. */
  readonly paths: readonly AnyPath[];
  readonly secrets?: readonly AnySecretType[];
  readonly intents?: readonly AnyIntent[];
  readonly schedules?: readonly AnySchedule[];
  /** The secrets of this mount that others may follow. May be a getter. */
  readonly source?: SecretSource | undefined;
  /** Of packages that declare `subscribesToSecrets`. */
  readonly subscriber?: SecretSubscriber;
  /** What a path that the mount does not know answers; default: 404 unsupported path. */
  readonly unknownPathWarning?: string;
  /** Login methods: what a renewed token may still have. A throw refuses the renewal; the token lives on to its end. */
  renewAuth?(auth: AuthRenewal): Promise<RenewedAuth>;
  /** Once after mount or unseal, before the first request. A throw quarantines this mount alone. */
  initialize?(): Promise<void>;
  /** The mount was tuned; `host.mount` already shows the new values. */
  tuned?(): Promise<void>;
  /** Another process changed this record (`prefix` + id of a cached collection). */
  invalidate?(key: string): void;
  /**
   * At unmount, when no lease and no open intent is left: takes back what stands outside without a lease, such as the access keys of static roles.
   * Repeated until it succeeds, so what is already gone counts as success. A throw holds the removal up and is shown as its reason. Under a deadline
   * of 60 seconds. The operator can still configure the mount meanwhile, or cancel the removal: what is taken back here is then no longer there.
   * Intents opened here are of kinds that say `takesBack`, and are processed before the mount goes. A forced removal does not call this.
   */
  retire?(signal: AbortSignal): Promise<void>;
  /**
   * What stands outside because of this mount and has no lease: accounts whose only password is stored here, keys, root credentials that were
   * rotated. An unmount lists what `retire` does not take back, and a forced one everything. Read from storage, without asking the outside system.
   */
  outside?(): Promise<readonly OutsideThing[]>;
  /** At unmount and seal; also after a failed initialize. Idempotent. */
  close?(): Promise<void>;
}

/** What the core gives an engine. */
export interface EngineHost {
  readonly mount: MountInfo;
  readonly storage: StorageView;
  readonly clock: Clock;
  readonly log: Log;
  /** The plugins of one kind that the server lists and can use, such as `database`. */
  plugins(kind: string): readonly Plugin[];
  /** Those that it cannot use, or knows and does not have, so that what depends on one can say why it does not work. */
  refusedPlugins(kind: string): readonly RefusedPlugin[];
  /** The way to an outside system, by the name that leases, intents and schedules of this mount have for it as their target. */
  circuit(target: string): Circuit;
  /**
   * What stood in the way of an outside system was mended, such as its password: revocations, undoings and jobs of this mount that failed at it or were put
   * off are due now, with all their patience, and its circuit is closed. Resolves before they are made.
   */
  retry(target: string): Promise<void>;
  randomBytes(count: number): Uint8Array;
  /** A password by the named policy, or by the default one: 20 characters with an upper, a lower, a digit and a dash. @throws NotFound for an unknown name. */
  generatePassword(policy?: string): Promise<string>;
  /** The effective ttl and maximum of a lease that is issued now, after the mount's limits; seconds. */
  limit(terms: { ttl: number; maxTtl: number }): { ttl: number; maxTtl: number };
  /** For packages that declare `subscribesToSecrets`. */
  readonly sources?: SecretSources;
}

/**
 * A mount that belongs to the server: made when the plugin is listed and the server is opened, and kept. Operators can neither mount it
 * elsewhere nor move, tune or unmount it, and the lists of mounts leave it out. Policies name its paths like any others.
 */
export interface SystemMount {
  /** One segment below `sys/`. */
  readonly path: `sys/${string}/`;
  /** The name under which `sys/activation-flags` shows it, as activated. */
  readonly feature?: string;
}

/** An engine as a plugin: what operators mount. Importing it does nothing. */
export interface EnginePackage extends Plugin {
  readonly kind: 'auth' | 'secret';
  readonly apiVersion: 1;
  /** Other mount types that mean this engine: `kv-v2`. The value is merged into the mount's options. */
  readonly aliases?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The server mounts the engine itself, once, at a path of its own: see SystemMount. */
  readonly system?: SystemMount;
  /** The engine reads secrets of other mounts and hears of their changes: `host.sources` and `Engine.subscriber`. */
  readonly subscribesToSecrets?: boolean;
  /** Mount options that must be checked before the mount exists, or before it is tuned: then `current` are those it has. @throws BadRequest */
  checkOptions?(options: Readonly<Record<string, string>>, current?: Readonly<Record<string, string>>): void;
  /** Builds the engine for one mount; opens nothing, since `initialize` does. */
  create(host: EngineHost): Engine;
}

export type { TObject };
