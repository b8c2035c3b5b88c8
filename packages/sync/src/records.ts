import type { StorageView, Subject } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

type Storage = Pick<StorageView, 'collection'>;

export const Settings = Type.Object({
  /** While true nothing is written outside; what changes stays in the queue. */
  disabled: Type.Boolean(),
  /** The most associations that may wait to be synced. */
  queue_capacity: Type.Integer(),
});
export type Settings = Static<typeof Settings>;
export const DEFAULT_SETTINGS: Settings = { disabled: false, queue_capacity: 1_000_000 };

const Granularity = Type.Union([Type.Literal('secret-path'), Type.Literal('secret-key')]);
export const CONFLICT_POLICIES = ['fail', 'adopt', 'overwrite'] as const;
export type ConflictPolicy = (typeof CONFLICT_POLICIES)[number];

/** A destination, by `<type>/<name>`. */
export const DestinationRecord = Type.Object({
  /** 24 hex digits; a destination made again under the same name has another one. */
  id: Type.String(),
  type: Type.String(),
  name: Type.String(),
  /** Fields of the plugin, as decoded. */
  connection: Type.Record(Type.String(), Type.Unknown()),
  allowed_ipv4_addresses: Type.Array(Type.String()),
  allowed_ipv6_addresses: Type.Array(Type.String()),
  allowed_ports: Type.Array(Type.Integer()),
  disable_strict_networking: Type.Boolean(),
  /** '' for that of the type. */
  secret_name_template: Type.String(),
  granularity: Granularity,
  custom_tags: Type.Record(Type.String(), Type.String()),
  on_conflict: Type.Union([Type.Literal('fail'), Type.Literal('adopt'), Type.Literal('overwrite')]),
  /** Seconds; 0 for never. */
  reconcile_interval: Type.Number(),
  /** Counts the writes of this record; sessions of an older one are closed. */
  generation: Type.Integer(),
  /** Ids of destinations of this name that were deleted: what they soft-deleted outside is this one's. */
  formerly: Type.Optional(Type.Array(Type.String())),
  purge: Type.Optional(Type.Object({ initiated_at: Type.String(), error: Type.Optional(Type.String()) })),
});
export type DestinationRecord = Static<typeof DestinationRecord>;

export const LastError = Type.Object({
  message: Type.String(),
  code: Type.Optional(Type.String()),
  request_id: Type.Optional(Type.String()),
});
export type LastError = Static<typeof LastError>;

/** One secret outside. */
export const RemoteRecord = Type.Object({
  /** 24 hex digits: the ownership mark, together with the destination's. */
  id: Type.String(),
  /** The key of the secret; '' where the whole secret is one. */
  key: Type.String(),
  name: Type.String(),
  status: Type.String(),
  updated_at: Type.String(),
  /** Keyed digest of the value and tags that exist outside; never the value. Absent: certainly nothing of ours is there. */
  fingerprint: Type.Optional(Type.String()),
  identity: Type.Optional(Type.String()),
  revision: Type.Optional(Type.String()),
  /** Stored before the first request that changes anything, and taken away with its outcome. */
  writing: Type.Optional(Type.Object({ operation: Type.String(), fingerprint: Type.String(), since: Type.String() })),
  /** Nothing of ours should stand under this name any more. */
  leaving: Type.Optional(Type.Boolean()),
  last_error: Type.Optional(LastError),
});
export type RemoteRecord = Static<typeof RemoteRecord>;

/** An association, by `<destination id>/<id>`. */
export const AssociationRecord = Type.Object({
  id: Type.String(),
  destination: Type.String(),
  /** `<type>/<name>` of the destination. */
  place: Type.String(),
  /** The mount's uuid: it stays when the mount moves. */
  mount: Type.String(),
  accessor: Type.String(),
  /** As it was when the association was set: names are rendered from it. */
  mount_path: Type.String(),
  secret_name: Type.String(),
  secret_name_template: Type.String(),
  granularity: Granularity,
  wanted: Type.Union([Type.Literal('synced'), Type.Literal('removed')]),
  status: Type.String(),
  updated_at: Type.String(),
  /** Counts what was asked for: a run that ends after another request knows that there is more to do. */
  change: Type.Integer(),
  /** Look outside even if nothing changed inside. */
  verify: Type.Boolean(),
  /** Of the last version that was carried out; 0 for none. */
  source_version: Type.Integer(),
  remotes: Type.Array(RemoteRecord),
  /** The rules that brought it, as patterns. */
  rules: Type.Optional(Type.Array(Type.String())),
  /** Rules alone brought it: it goes with the last of them. */
  by_rule_alone: Type.Optional(Type.Boolean()),
  /** Keys that nothing can be written for as things stand. */
  refused: Type.Optional(Type.Array(Type.Object({ key: Type.String(), status: Type.String(), error: LastError }))),
  /** Names claimed when it was set, which the next run gives to remotes or lets go of. */
  claimed: Type.Array(Type.String()),
  /** The run that holds it, when that run began, and until when it holds it at the most. */
  working: Type.Optional(Type.Object({ run: Type.String(), since: Type.Optional(Type.String()), until: Type.String() })),
  attempts: Type.Integer(),
  next_attempt_at: Type.Optional(Type.String()),
  last_error: Type.Optional(LastError),
  /** Has been looked at again after its first run: see SyncRun. */
  settled: Type.Optional(Type.Boolean()),
});
export type AssociationRecord = Static<typeof AssociationRecord>;

/** Links every secret below a folder with a destination. By `<mount uuid>/<destination id>/<pattern>`. */
export const RuleRecord = Type.Object({
  /** 24 hex digits. */
  id: Type.String(),
  destination: Type.String(),
  /** `<type>/<name>` of the destination. */
  place: Type.String(),
  /** The mount's uuid. */
  mount: Type.String(),
  accessor: Type.String(),
  /** As it was when the rule was set. */
  mount_path: Type.String(),
  /** `*`, or a folder and `/*`. */
  pattern: Type.String(),
  /** Secrets, and folders with `/*`, that it leaves out. */
  exclude: Type.Array(Type.String()),
  /** The most secrets that it links. */
  max_secrets: Type.Integer(),
  /** Of whoever set it last: see `SecretSources.standingRights`. */
  rights: Type.String(),
  made_by: Type.String(),
  made_at: Type.String(),
  removing: Type.Optional(Type.Boolean()),
  /** Has been applied again some time after it was set: see SyncRun. */
  settled: Type.Optional(Type.Boolean()),
  /** What the last look at the whole folder came to. */
  found: Type.Optional(Type.Object({ at: Type.String(), linked: Type.Integer(), denied: Type.Integer(), beyond: Type.Integer() })),
});
export type RuleRecord = Static<typeof RuleRecord>;

/** Which association owns a remote name, by `<destination id>/<name>`. */
const NameRecord = Type.Object({ association: Type.String() });
/** Associations of a secret, by `<mount uuid>/<secret>`. */
const FollowedRecord = Type.Object({ associations: Type.Array(Type.String()) });
/** Stands for itself. */
const Marker = Type.Object({});
/** When a mount was unmounted. */
const GoneMountRecord = Type.Object({ at: Type.String() });
/** Ids of the deleted destinations of a place, the latest last. */
const FormerRecord = Type.Object({ ids: Type.Array(Type.String()) });
const KeyRecord = Type.Object({ key: Type.String() });
/** What the last plan of a destination found to differ outside. */
const DriftRecord = Type.Object({
  /** When the comparison ended: milliseconds since the epoch. */
  at: Type.Number(),
  /** Copies that somebody changed outside, and copies that are not there. */
  edited: Type.Integer(),
  missing: Type.Integer(),
  /** Ids of the first associations of them. */
  associations: Type.Array(Type.String()),
});
/** A shared account, by `<collection>/<name>`. */
const AccountRecord = Type.Record(Type.String(), Type.Unknown());

/** Prefix of the markers of mounts that have associations: kept in memory, so that others cost nothing. */
export const SUBSCRIBED_MOUNTS = 'followed-mount/';

/** Prefix of the markers of mounts that have rules, kept in memory as well. */
export const RULED_MOUNTS = 'ruled-mount/';

/** Everything the engine stores. */
export function recordsIn(storage: Storage) {
  return {
    settings: storage.collection('settings/', Settings),
    destinations: storage.collection('destination/', DestinationRecord),
    /** By `<type>/<name>`. */
    formerDestinations: storage.collection('former-destination/', FormerRecord),
    associations: storage.collection('association/', AssociationRecord),
    names: storage.collection('name/', NameRecord),
    followed: storage.collection('followed/', FollowedRecord),
    rules: storage.collection('rule/', RuleRecord),
    /** Secrets that a rule brought, by `<rule id>/<secret>`. */
    ruled: storage.collection('ruled/', Marker),
    ruledMounts: storage.collection(RULED_MOUNTS, Marker, { cached: true }),
    subscribedMounts: storage.collection(SUBSCRIBED_MOUNTS, Marker, { cached: true }),
    /** Mounts that are being unmounted or gone, by uuid: nothing may be linked with them any more, whoever still sees them. */
    goneMounts: storage.collection('gone-mount/', GoneMountRecord),
    /** By `<type>/<name>`. */
    drift: storage.collection('drift/', DriftRecord),
    /** Associations that wait for a run, by their id. */
    pending: storage.collection('pending/', Marker),
    keys: storage.collection('key/', KeyRecord),
    accounts: storage.collection('account/', AccountRecord),
  };
}
export type Records = ReturnType<typeof recordsIn>;

/** What circuit breakers guard: the runs of a destination, and its comparisons. */
export const syncTarget = (place: string): string => `sync destination ${place}`;
export const reconciliationTarget = (place: string): string => `reconciliation of ${place}`;

/** The destination that a circuit breaker guards. */
export function destinationOf(target: string): Subject | undefined {
  const place = /^(?:sync destination|reconciliation of) (.+)$/s.exec(target)?.[1];
  return place === undefined ? undefined : { noun: 'destination', name: place, path: `destinations/${place}` };
}

export const placeOf = ({ type, name }: Pick<DestinationRecord, 'type' | 'name'>): string => `${type}/${name}`;
export const idOf = ({ destination, id }: Pick<AssociationRecord, 'destination' | 'id'>): string => `${destination}/${id}`;
export const ruleId = ({ mount, destination, pattern }: Pick<RuleRecord, 'mount' | 'destination' | 'pattern'>): string =>
  `${mount}/${destination}/${pattern}`;
export const secretId = (mount: string, name: string): string => `${mount}/${name}`;

export async function settingsIn(records: Records): Promise<Settings> {
  return (await records.settings.get('settings')) ?? DEFAULT_SETTINGS;
}

const PAGE = 200;

/** Records of a collection page by page, so that many cost no memory. */
export async function* pages<T>(
  collection: { entries(query: { prefix?: string; after?: string; limit?: number }): Promise<[string, T][]> },
  prefix = '',
): AsyncGenerator<[string, T][]> {
  let after: string | undefined;
  for (;;) {
    const page = await collection.entries({ prefix, limit: PAGE, ...(after === undefined ? {} : { after }) });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (page.length < PAGE || !last) return;
    after = last[0];
  }
}

/** The association that has claimed a name, if any. */
export async function nameOwnerIn(records: Records, claim: string): Promise<string | undefined> {
  return (await records.names.get(claim))?.association;
}
