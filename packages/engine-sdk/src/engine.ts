import type { TObject, TSchema } from 'typebox';
import type { AuthRenewal, RenewedAuth } from './auth.ts';
import type { Circuit } from './circuit.ts';
import type { EnginePool } from './engine-pool.ts';
import type { Clock } from './clock.ts';
import type { AnyIntent } from './intent.ts';
import type { FailingThing, Subject } from './failing-thing.ts';
import type { Log } from './log.ts';
import type { OutsideThing } from './outside-thing.ts';
import type { AnyPath } from './path.ts';
import type { HolderPage } from './policy-holder.ts';
import type { AnySchedule } from './schedule.ts';
import type { SecretSubscriber, SecretSource, SecretSources } from './secret-source.ts';
import type { AnySecretType } from './secret-type.ts';
import type { StorageView, Transaction } from './storage-view.ts';
import type { MountIdentity } from './mount-identity.ts';
import type { MountInfo } from './mount-info.ts';

/** The version of the plugin API. It is checked before any code of a plugin runs. */
export const API_VERSION = 2;

/** Anything that a server lists: engines, database plugins, sync destinations, audit devices. Importing one has no side effects. */
export interface Plugin {
  /** The name that operators use: a mount type, a `plugin_name`. */
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: number;
  /** The semantic version of the package, shown in the catalog. */
  readonly version?: string;
  /**
   * Where the code of the plugin is: names of packages, and folders as `file:` URLs (`new URL('.', import.meta.url).href`). An uncaught exception is
   * attributed to the plugin by its stack, and affects only what the plugin runs. For plugins that the configuration names, the server adds the
   * folder of their package.
   */
  readonly code?: readonly string[];
  /** What operators configure of it: the parameters of a database connection, of a destination. The catalogue shows them. */
  readonly connection?: TSchema | undefined;
}

/** A plugin that this server cannot use, because it was built for another API or is not installed. None of its code has run. */
export interface RefusedPlugin {
  readonly plugin: Plugin;
  /** For operators. Contains the plugin's name. */
  readonly reason: string;
}

/** An engine at one mount. Every hook except `paths` is optional. */
export interface Engine {
  /** May be a getter: a different array takes effect with the next request. The same paths must be the same array. */
  readonly paths: readonly AnyPath[];
  readonly secrets?: readonly AnySecretType[];
  readonly intents?: readonly AnyIntent[];
  readonly schedules?: readonly AnySchedule[];
  /** The secrets of this mount that others can subscribe to. May be a getter. */
  readonly source?: SecretSource | undefined;
  /** For packages that declare `subscribesToSecrets`. */
  readonly subscriber?: SecretSubscriber;
  /** The warning in the response for a path that the mount does not know. By default the response is 404 with `unsupported path`. */
  readonly unknownPathWarning?: string;
  /** For auth methods: the terms of a renewed token. A throw refuses the renewal; the token stays valid until it expires. */
  renewAuth?(auth: AuthRenewal): Promise<RenewedAuth>;
  /**
   * For auth methods: whether the user or role that a login was granted for is still there, given what the login left as `internal`. Asked in the commit that makes the token
   * of a login that waited for a second factor. By default it is.
   */
  stillGrants?(internal: Readonly<Record<string, unknown>>, tx: Transaction): Promise<boolean>;
  /**
   * For auth methods: the roles, users and groups of this mount whose logins get policies, so that `sys/policies/who` finds who may do what. Reads at most `limit` records of
   * storage, from the one after `after` on, the `next` of the previous page; `pageOfHolders` does both. Nothing outside is asked.
   */
  policyHolders?(query: { readonly after?: string; readonly limit: number }): Promise<HolderPage>;
  /** Called once after mount or unseal, before the first request. A throw quarantines this mount alone. */
  initialize?(): Promise<void>;
  /** Called when the mount was tuned. `host.mount` already has the new values. */
  tuned?(): Promise<void>;
  /** Called when another process changed a record. `key` is the prefix of a cached collection and the id. */
  invalidate?(key: string): void;
  /**
   * Called at unmount, when no lease and no open intent is left. Removes what exists in outside systems without a lease, such as the access keys of static
   * roles. Retried until it succeeds, so what is already gone counts as success. A throw delays the removal and is shown as the reason. The deadline is
   * 60 seconds. Meanwhile the operator can still configure the mount or cancel the removal, but what was removed here stays removed. Intents opened
   * here must be of kinds with `takesBack`; they are processed before the mount is removed. A forced removal does not call this.
   */
  retire?(signal: AbortSignal): Promise<void>;
  /**
   * What exists in outside systems because of this mount, without a lease: accounts whose only password is stored here, keys, rotated root
   * credentials. An unmount lists what `retire` does not remove; a forced unmount lists everything. Reads storage only, not the outside system.
   */
  outside?(): Promise<readonly OutsideThing[]>;
  /**
   * What needs a person, beside the jobs that fail: connections that cannot be used, accounts that somebody else took over. At most `limit` things, from memory or
   * from an index: it is called whenever somebody looks at what fails, and must not read all records of a large mount. The deadline is 2 seconds.
   */
  failing?(limit: number): Promise<readonly FailingThing[]>;
  /** What an outside system of this mount is to a person, by the target that leases, intents and schedules name; its `path` has its settings. */
  system?(target: string): Subject | undefined;
  /** The pools of connections that this process holds, for metrics. From memory: nothing is read or connected to. */
  pools?(): readonly EnginePool[];
  /** Called at unmount and seal, and after `initialize` failed. Idempotent. */
  close?(): Promise<void>;
}

/** What the core provides to an engine. */
export interface EngineHost {
  readonly mount: MountInfo;
  readonly storage: StorageView;
  readonly clock: Clock;
  readonly log: Log;
  /** The usable plugins of a kind, such as `database`. */
  plugins(kind: string): readonly Plugin[];
  /** The plugins of a kind that cannot be used, so that the engine can say why. */
  refusedPlugins(kind: string): readonly RefusedPlugin[];
  /** The circuit breaker of an outside system, by the target that leases, intents and schedules of this mount name. */
  circuit(target: string): Circuit;
  /**
   * Reports that an outside system is usable again, for instance after its password was corrected. Revocations, rollbacks and jobs of this mount that failed
   * or were postponed become due now, with all their attempts, and the circuit breaker closes. Resolves before they run.
   */
  retry(target: string): Promise<void>;
  /**
   * This process's part of a limit that is meant for the whole server, such as the most connections to a database: the parts of all its processes add up to the limit,
   * except that each has at least 1. Absent: the server is one process.
   */
  shareOf?(limit: number): number;
  /** The `cluster_id` of this server, as `sys/health` shows it. Absent: the host has none. */
  clusterId?(): string | undefined;
  randomBytes(count: number): Uint8Array;
  /** A password by the named policy, or by the default policy: 20 characters, among them an upper-case letter, a lower-case letter, a digit and a dash. @throws NotFound for an unknown name. */
  generatePassword(policy?: string): Promise<string>;
  /** The identity of the mount towards clouds that trust the server as an issuer of tokens. */
  readonly identity: MountIdentity;
  /** Whether the lockout refuses logins on this mount under the name now, wherever they come from. */
  isLocked(name: string): Promise<boolean>;
  /** The effective ttl and maximum of a lease that is issued now, within the limits of the mount. In seconds. */
  limit(terms: { ttl: number; maxTtl: number }): { ttl: number; maxTtl: number };
  /** For packages that declare `subscribesToSecrets`. */
  readonly sources?: SecretSources;
}

/**
 * A mount that belongs to the server, which creates it when it opens and the plugin is listed. Operators cannot mount it elsewhere, move it, tune it or
 * unmount it, and lists of mounts omit it. Policies name its paths like all others.
 */
export interface SystemMount {
  /** One segment below `sys/`. */
  readonly path: `sys/${string}/`;
  /** The name under which `sys/activation-flags` shows it as activated. */
  readonly feature?: string;
}

/**
 * How people log in with a browser: they fill in a `form`, are sent to an identity provider (`oidc`: the paths `oidc/auth_url` and `oidc/callback`), or show
 * the certificate of their connection (`cert`).
 */
export type LoginFlow = 'form' | 'oidc' | 'cert';

/** An engine as a plugin: what operators mount. Importing it does nothing. */
export interface EnginePackage extends Plugin {
  readonly kind: 'auth' | 'secret';
  readonly apiVersion: 2;
  /** Other mount types of this engine, such as `kv-v2`. The value is merged into the options of the mount. */
  readonly aliases?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The server mounts the engine itself, once: see SystemMount. */
  readonly system?: SystemMount;
  /**
   * Auth methods: names of people and groups that differ only in case mean different ones, as they do for the subjects of a token issuer. Otherwise
   * the core ignores case.
   */
  readonly exactAliases?: boolean;
  /** Auth methods: how people log in with a browser. By default a form of the fields of the login path. */
  readonly loginFlow?: LoginFlow;
  /** The engine reads secrets of other mounts and subscribes to their changes, by `host.sources` and `Engine.subscriber`. */
  readonly subscribesToSecrets?: boolean;
  /**
   * Checks the options before the mount is created or tuned. When tuning, `current` has the options in force. Returns warnings for the caller, such as
   * `unrecognizedFields` makes them. An engine without it has no options, and callers are warned of each one. @throws BadRequest
   */
  checkOptions?(options: Readonly<Record<string, string>>, current?: Readonly<Record<string, string>>): readonly string[] | void;
  /** Creates the engine for one mount. It opens nothing: `initialize` does. */
  create(host: EngineHost): Engine;
}

export type { TObject };
