/** The fields of a connection that say where copies of a secret lie, and what encrypts them. */
export interface ReplicationFields {
  readonly kms_key_id?: string | undefined;
  readonly replica_regions?: Readonly<Record<string, string>> | undefined;
  readonly replication_locations?: readonly string[] | undefined;
  readonly locational_kms_keys?: Readonly<Record<string, string>> | undefined;
  readonly global_kms_key?: string | undefined;
}

interface Encryption {
  readonly customerManagedEncryption?: { readonly kmsKeyName: string };
}

/** As Secret Manager wants it when a secret is created; it cannot be changed later. */
export type Replication =
  | { readonly automatic: Encryption }
  | { readonly userManaged: { readonly replicas: (Encryption & { readonly location: string })[] } };

const LOCATION = /^[a-z]+(-[a-z]+)+\d+$/;
const KEY = /^projects\/[^/]+\/locations\/([^/]+)\/keyRings\/[^/]+\/cryptoKeys\/[^/]+$/;
const KEY_EXAMPLE = 'projects/<project>/locations/<location>/keyRings/<ring>/cryptoKeys/<key>';

export function replicationOf(fields: ReplicationFields): Replication {
  const regions = replicaKeys(fields);
  const encryption = (key: string | undefined): Encryption => (key ? { customerManagedEncryption: { kmsKeyName: key } } : {});
  if (regions.length === 0) return { automatic: encryption(fields.kms_key_id || fields.global_kms_key) };
  return { userManaged: { replicas: regions.map(([location, key]) => ({ location, ...encryption(key) })) } };
}

/** Everything wrong with the fields, one sentence each. */
export function replicationFaults(fields: ReplicationFields): readonly string[] {
  const faults: string[] = [];
  const given = (names: readonly (keyof ReplicationFields)[]): string[] => names.filter((name) => !isEmpty(fields[name]));
  const [current, deprecated] = [
    given(['kms_key_id', 'replica_regions']),
    given(['replication_locations', 'locational_kms_keys', 'global_kms_key']),
  ];
  if (current.length > 1) faults.push('kms_key_id and replica_regions exclude each other: keys of replicas belong into replica_regions');
  if (current.length > 0 && deprecated.length > 0) faults.push(`${deprecated[0]} is the older way to say ${current[0]}: give one of them`);
  if (!isEmpty(fields.global_kms_key) && !isEmpty(fields.replication_locations)) {
    faults.push('global_kms_key is for automatic replication, and excludes replication_locations');
  }
  const locations = fields.replication_locations ?? [];
  for (const location of Object.keys(fields.locational_kms_keys ?? {})) {
    if (!locations.includes(location)) faults.push(`locational_kms_keys names ${location}, which is not in replication_locations`);
  }
  for (const [location, key] of replicaKeys(fields)) {
    if (!LOCATION.test(location)) faults.push(`"${location}" is not the name of a location, such as "europe-west1"`);
    if (key) faults.push(...keyFaults(key, location));
  }
  for (const key of [fields.kms_key_id, fields.global_kms_key]) if (key) faults.push(...keyFaults(key, 'global'));
  return faults;
}

function keyFaults(key: string, location: string): string[] {
  const at = KEY.exec(key)?.[1];
  if (at === undefined) return [`"${key}" is not the name of a Cloud KMS key, such as ${KEY_EXAMPLE}`];
  return at === location ? [] : [`the Cloud KMS key "${key}" must be in the location "${location}"`];
}

function replicaKeys(fields: ReplicationFields): [location: string, key: string | undefined][] {
  if (!isEmpty(fields.replica_regions)) return Object.entries(fields.replica_regions!);
  return (fields.replication_locations ?? []).map((location) => [location, fields.locational_kms_keys?.[location]]);
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
