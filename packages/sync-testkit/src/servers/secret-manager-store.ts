import { createHash, randomBytes } from 'node:crypto';

export type GrpcCode =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'UNAUTHENTICATED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'UNIMPLEMENTED'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/** An error answer of Secret Manager. */
export class GrpcRefusal extends Error {
  readonly code: GrpcCode;

  constructor(code: GrpcCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type VersionState = 'ENABLED' | 'DISABLED' | 'DESTROYED';

export interface StoredVersion {
  readonly number: number;
  data: Buffer;
  state: VersionState;
  etag: string;
  readonly created: number;
  destroyed?: number;
}

/** As in the protos; only what the server interprets has a shape here. */
export interface Replication {
  readonly automatic?: { readonly customerManagedEncryption?: { readonly kmsKeyName: string } | null } | null;
  readonly userManaged?: {
    readonly replicas: readonly {
      readonly location: string;
      readonly customerManagedEncryption?: { readonly kmsKeyName: string } | null;
    }[];
  } | null;
}

export interface StoredSecret {
  readonly id: string;
  readonly replication: Replication;
  readonly created: number;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  etag: string;
  /** Oldest first. */
  readonly versions: StoredVersion[];
}

export const SECRET_MANAGER_VALUE_LIMIT = 64 * 1024;
const MOST_LABELS = 64;
const LABEL_KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const LABEL_VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;
const KMS_KEY = /^projects\/[^/]+\/locations\/([^/]+)\/keyRings\/[^/]+\/cryptoKeys\/[^/]+$/;

/** The secrets of one project. */
export class SecretManagerStore {
  readonly #secrets = new Map<string, StoredSecret>();
  readonly #now: () => number;
  readonly #path: string;

  constructor(projectNumber: string, now: () => number) {
    this.#path = `projects/${projectNumber}/secrets`;
    this.#now = now;
  }

  all(): StoredSecret[] {
    return [...this.#secrets.values()];
  }

  find(id: string): StoredSecret | undefined {
    return this.#secrets.get(id);
  }

  create(id: string, replication: Replication | null, labels: Record<string, string>, annotations: Record<string, string>): StoredSecret {
    if (!/^[a-zA-Z0-9_-]{1,255}$/.test(id)) {
      throw new GrpcRefusal('INVALID_ARGUMENT', `The provided Secret ID [${id}] does not match the expected format [[a-zA-Z_0-9-]+]`);
    }
    checkReplication(replication);
    checkLabels(labels);
    checkAnnotations(annotations);
    if (this.#secrets.has(id)) throw new GrpcRefusal('ALREADY_EXISTS', `Secret [${this.#path}/${id}] already exists.`);
    const secret: StoredSecret = { id, replication, created: this.#now(), labels, annotations, etag: newEtag(), versions: [] };
    this.#secrets.set(id, secret);
    return secret;
  }

  require(id: string): StoredSecret {
    const secret = this.#secrets.get(id);
    if (secret === undefined) throw new GrpcRefusal('NOT_FOUND', `Secret [${this.#path}/${id}] not found.`);
    return secret;
  }

  update(id: string, etag: string, change: Partial<Pick<StoredSecret, 'labels' | 'annotations'>>): StoredSecret {
    const secret = this.require(id);
    this.#checkEtag(`${this.#path}/${id}`, secret.etag, etag);
    if (change.labels !== undefined) checkLabels(change.labels);
    if (change.annotations !== undefined) checkAnnotations(change.annotations);
    Object.assign(secret, change, { etag: newEtag() });
    return secret;
  }

  delete(id: string, etag: string): void {
    const secret = this.require(id);
    this.#checkEtag(`${this.#path}/${id}`, secret.etag, etag);
    this.#secrets.delete(id);
  }

  addVersion(id: string, data: Buffer): StoredVersion {
    const secret = this.require(id);
    if (data.length === 0) throw new GrpcRefusal('INVALID_ARGUMENT', 'Field [payload] is required.');
    if (data.length > SECRET_MANAGER_VALUE_LIMIT) {
      throw new GrpcRefusal('INVALID_ARGUMENT', `The payload is ${data.length} bytes, and must be at most ${SECRET_MANAGER_VALUE_LIMIT}.`);
    }
    const version: StoredVersion = { number: secret.versions.length + 1, data, state: 'ENABLED', etag: newEtag(), created: this.#now() };
    secret.versions.push(version);
    return version;
  }

  /** `latest` is the newest, whatever its state. */
  requireVersion(id: string, wanted: string): StoredVersion {
    const { versions } = this.require(id);
    const version = wanted === 'latest' ? versions.at(-1) : versions[Number(wanted) - 1];
    if (version === undefined) throw new GrpcRefusal('NOT_FOUND', `Secret Version [${this.#path}/${id}/versions/${wanted}] not found.`);
    return version;
  }

  access(id: string, wanted: string): StoredVersion {
    const version = this.requireVersion(id, wanted);
    if (version.state === 'ENABLED') return version;
    const name = `${this.#path}/${id}/versions/${version.number}`;
    throw new GrpcRefusal('FAILED_PRECONDITION', `Secret Version [${name}] is in ${version.state} state.`);
  }

  move(id: string, wanted: string, state: VersionState, etag: string): StoredVersion {
    const version = this.requireVersion(id, wanted);
    const name = `${this.#path}/${id}/versions/${version.number}`;
    this.#checkEtag(name, version.etag, etag);
    if (version.state === 'DESTROYED' && state !== 'DESTROYED') {
      throw new GrpcRefusal('FAILED_PRECONDITION', `Secret Version [${name}] is in DESTROYED state.`);
    }
    version.state = state;
    version.etag = newEtag();
    if (state === 'DESTROYED') {
      version.destroyed ??= this.#now();
      version.data = Buffer.alloc(0);
    }
    return version;
  }

  #checkEtag(name: string, actual: string, given: string): void {
    if (given === '' || given === actual) return;
    throw new GrpcRefusal('FAILED_PRECONDITION', `The etag of [${name}] does not match the one given.`);
  }
}

const newEtag = (): string => `"${createHash('sha256').update(randomBytes(16)).digest('hex').slice(0, 12)}"`;

function checkReplication(replication: Replication | null): asserts replication is Replication {
  const refuse = (message: string): GrpcRefusal => new GrpcRefusal('INVALID_ARGUMENT', message);
  const kms = (key: string | undefined, location: string): void => {
    if (key === undefined) return;
    const at = KMS_KEY.exec(key)?.[1];
    if (at === undefined) throw refuse(`Invalid KMS key name: ${key}`);
    if (at !== location) throw refuse(`The KMS key ${key} must be in location ${location}.`);
  };
  const [automatic, userManaged] = [replication?.automatic ?? undefined, replication?.userManaged ?? undefined];
  if (automatic === undefined && userManaged === undefined) throw refuse('Field [secret.replication] is required.');
  kms(automatic?.customerManagedEncryption?.kmsKeyName, 'global');
  if (userManaged === undefined) return;
  if (userManaged.replicas.length === 0) throw refuse('At least one replica is required.');
  const locations = userManaged.replicas.map(({ location }) => location);
  const unknown = locations.find((location) => !/^[a-z]+-[a-z]+\d+$/.test(location));
  if (unknown !== undefined) throw refuse(`Unknown location: ${unknown}`);
  if (new Set(locations).size !== locations.length) throw refuse('A location occurs twice.');
  for (const replica of userManaged.replicas) kms(replica.customerManagedEncryption?.kmsKeyName, replica.location);
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  const entries = Object.entries(labels);
  if (entries.length > MOST_LABELS) throw new GrpcRefusal('INVALID_ARGUMENT', `At most ${MOST_LABELS} labels are allowed.`);
  const wrong = entries.find(
    ([key, value]) => !LABEL_KEY.test(key) || !LABEL_VALUE.test(value) || Buffer.byteLength(key) > 128 || Buffer.byteLength(value) > 128,
  );
  if (wrong !== undefined) throw new GrpcRefusal('INVALID_ARGUMENT', `The label [${wrong[0]}] does not conform to the rules of labels.`);
}

function checkAnnotations(annotations: Readonly<Record<string, string>>): void {
  const entries = Object.entries(annotations);
  const wrong = entries.find(([key]) => !/^[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$/.test(key));
  if (wrong !== undefined) throw new GrpcRefusal('INVALID_ARGUMENT', `The annotation [${wrong[0]}] has a key that is not allowed.`);
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size >= 16 * 1024) throw new GrpcRefusal('INVALID_ARGUMENT', 'The annotations are larger than 16 KiB.');
}
