import type { Clock, Log, Plugin, Tracer } from '@strongroom/engine-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import type { AbsentPlugin } from './services/plugins/absent-plugin.ts';
import type { AuditDeviceConfig } from './services/audit/audit-broker.ts';
import type { ProcessTable } from './kernel/incarnation/process-table.ts';
import type { OpenPgp } from './services/ceremony/pgp-keys.ts';
import type { ConfiguredSeal } from './services/seal/configured-seal.ts';
import type { KeySeal } from './services/seal/key-seal.ts';
import type { LockoutDefaults } from './services/lockout/lockout-settings.ts';
import type { ConsoleSettings } from './services/settings/console-settings.ts';
import type { LogLevelStore } from './services/settings/log-levels.ts';
import type { AnsweredCall } from './kernel/call/answered-call.ts';
import type { Loggers } from './kernel/loggers.ts';
import type { Siblings } from './kernel/siblings.ts';
import type { FollowedLog } from './services/following/log-lines.ts';

/** All that the core is given; only storage is needed. */
export interface CoreOptions {
  readonly storage: StorageDriver;
  /** Engines, login methods, database plugins, audit devices: what operators can mount and use. */
  readonly plugins?: readonly Plugin[];
  /** The same from other packages, added by operators. `sys/plugins/catalog` and mounts do not show these as built in. */
  readonly externalPlugins?: readonly Plugin[];
  /** Plugins that could be installed and are not: a request for one is answered with the package to install. */
  readonly absentPlugins?: readonly AbsentPlugin[];
  readonly clock?: Clock;
  readonly log?: Log;
  /** Loads what encrypts to PGP keys, when the first key comes; resolves with undefined where it is not installed. */
  readonly pgp?: () => Promise<OpenPgp | undefined>;
  /** Where spans of requests go. Absent: there are none, and they cost nothing. */
  readonly tracer?: Tracer;
  /** In place of `log`: a log for each part of the core. */
  readonly loggers?: Loggers;
  /** What `sys/monitor` follows; without it there is no such path. */
  readonly followedLog?: FollowedLog;
  /**
   * Seals that open by themselves: any of those that are enabled opens the store. Without one the unseal key is split among operators (Shamir). Disabled ones open
   * what is to be migrated.
   */
  readonly seals?: readonly ConfiguredSeal[];
  /** Short for `seals` with one static seal. */
  readonly seal?: KeySeal;
  /**
   * Initializes an empty store with this root token and opens it: for development, tests, and programs that embed a core over
   * memory. The unseal key is thrown away, so a store that survives could not be opened again without an automatic seal. Refused
   * over a store that is initialized.
   */
  readonly devRootToken?: string;
  /** The other processes of a server that has several. By default this one is the whole server. */
  readonly siblings?: Siblings;
  /** How processes on one store know of each other's ends: for tests. By default a monotonic clock, and the processes of this machine. */
  readonly liveness?: { readonly clock?: Clock; readonly processes?: ProcessTable };
  /** System-wide lease limits, in seconds; 768 hours by default. */
  readonly defaultLeaseTtl?: number;
  readonly maxLeaseTtl?: number;
  /** Where clients reach this node. */
  readonly apiAddress?: string;
  readonly clusterName?: string;
  /** Audit devices of the configuration, by path. */
  readonly audit?: Readonly<Record<string, AuditDeviceConfig>>;
  /** Stored audit devices to drop at start: the way out when the only one is broken. */
  readonly auditEmergencyDisable?: readonly string[];
  /** How refused logins lock names, where a mount is not tuned otherwise. */
  readonly lockout?: LockoutDefaults;
  /** What `sys/config/state/sanitized` shows. */
  readonly sanitizedConfig?: () => Record<string, unknown>;
  /** What `sys/loggers` shows and sets; without it there are no such paths. */
  readonly logLevels?: LogLevelStore;
  /** What `sys/internal/ui/config` tells the console; what is left out has the defaults. */
  readonly console?: Partial<ConsoleSettings>;
  /** What `sys/metrics` answers: Prometheus text, or the JSON of Vault and OpenBao. */
  readonly metrics?: (format: 'prometheus' | 'json') => Promise<string>;
  /** Sees what every operation answers, before it is wrapped, and every refusal of a declared operation: for tests that compare answers with their declarations. Must not throw. */
  readonly onAnswer?: (answered: AnsweredCall) => void;
}
