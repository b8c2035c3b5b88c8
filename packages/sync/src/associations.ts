import {
  BadRequest,
  PermissionDenied,
  type EngineHost,
  type EngineRequest,
  type SecretSources,
  type SourceSecret,
  type Subject,
  type Transaction,
} from '@strongroom/engine-sdk';
import type { DestinationLimits, SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { contentsOf } from './contents.ts';
import type { SecretSubscribers } from './secret-subscribers.ts';
import {
  idOf,
  nameOwnerIn,
  placeOf,
  recordsIn,
  secretId,
  type AssociationRecord,
  type DestinationRecord,
  type Records,
} from './records.ts';
import { nameId, remoteName, settingsOf, templateOf } from './remote-names.ts';
import { refuseRuled } from './rule-pattern.ts';
import type { SyncQueue } from './sync-queue.ts';
import { Refusal } from './sync-status.ts';

export const NOT_FOUND = 'Secret not found. Please provide full path to existing secret';
/** It becomes part of storage keys. */
const LONGEST_NAME = 700;

interface Asked {
  readonly mount: string | undefined;
  readonly secret_name: string | undefined;
}

interface FoundMount {
  readonly uuid: string;
  readonly path: string;
  readonly accessor: string;
}

interface Found extends FoundMount {
  readonly secret: string;
}

/** What was put into the queue: the association, and its `change` since then. */
export interface QueuedChange {
  readonly id: string;
  readonly change: number;
}

const queued = (association: AssociationRecord): QueuedChange => ({ id: idOf(association), change: association.change });

/** Links between secrets and destinations: made, refreshed, taken away. */
export class Associations {
  readonly #host: EngineHost;
  readonly #sources: SecretSources;
  readonly #queue: SyncQueue;
  readonly #subscribers: SecretSubscribers;

  constructor(host: EngineHost, sources: SecretSources, queue: SyncQueue, subscribers: SecretSubscribers) {
    this.#host = host;
    this.#sources = sources;
    this.#queue = queue;
    this.#subscribers = subscribers;
  }

  /** Links the secret, or refreshes the link, and puts it into the queue. @throws BadRequest, PermissionDenied, TooManyRequests */
  async set(
    req: Pick<EngineRequest, 'id' | 'caller'>,
    destination: DestinationRecord,
    plugin: SyncDestinationPlugin,
    asked: Asked,
  ): Promise<QueuedChange> {
    const { found, secret } = await this.#readable(req, asked);
    await this.#queue.checkCapacity();
    const limits = plugin.limits(destination.connection);
    return this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const current = await records.destinations.get(placeOf(destination));
      if (current?.id !== destination.id || current.purge) throw new BadRequest(`the destination ${placeOf(destination)} is being deleted`);
      // Unmounting it stores that in its own commit: one of the two sees the other.
      if (await records.goneMounts.has(found.uuid)) throw new BadRequest(`mount: "${found.path}" is being unmounted`);
      const before = await this.find(records, destination.id, found);
      const association = before ?? (await this.link(tx, records, destination, found));
      const settings = { mount_path: found.path, ...settingsOf(plugin, destination) };
      const names = await this.#claim(
        records,
        destination,
        { ...association, ...settings },
        [...contentsOf(secret.data, destination.granularity).keys()],
        limits,
      );
      const claimed = [...new Set([...association.claimed, ...names])];
      return queued(await this.#queue.add(tx, association, { ...settings, claimed, wanted: 'synced', verify: true, by_rule_alone: false }));
    });
  }

  /**
   * The names that a secret would get outside, one for each copy, and whether it is linked already. Changes nothing. @throws BadRequest, PermissionDenied
   */
  async names(
    req: Pick<EngineRequest, 'id' | 'caller'>,
    destination: DestinationRecord,
    plugin: SyncDestinationPlugin,
    asked: Asked,
  ): Promise<{ readonly linked: boolean; readonly names: readonly string[] }> {
    const records = recordsIn(this.#host.storage);
    const { found, secret } = await this.#readable(req, asked);
    const linked = await this.find(records, destination.id, found);
    const association = {
      id: linked === undefined ? '' : idOf(linked),
      ...{
        mount_path: found.path,
        accessor: found.accessor,
        secret_name: found.secret,
        secret_name_template: templateOf(plugin, destination),
      },
    };
    const { name: limits } = plugin.limits(destination.connection);
    const names: string[] = [];
    for (const key of contentsOf(secret.data, destination.granularity).keys()) {
      const name = nameFor(destination, association, key, limits);
      const owner = await nameOwnerIn(records, nameId(destination.id, name, limits));
      if (owner !== undefined && owner !== association.id)
        throw new BadRequest(`the name ${JSON.stringify(name)} is used by another association: ${DIFFER}`);
      names.push(name);
    }
    return { linked: linked !== undefined, names };
  }

  /**
   * Puts the removal into the queue; a link that rules want as well stays as theirs. Undefined: there is no such association, which is fine.
   * @throws BadRequest for a link that rules alone made
   */
  async remove(destination: DestinationRecord, asked: Asked): Promise<{ change: QueuedChange | undefined; found: Found | undefined }> {
    const mount = checkedMount(asked.mount);
    const name = checkedName(asked.secret_name);
    if (!this.#sources.at(mount)) return { change: undefined, found: undefined };
    const found = this.#secret({ ...asked, secret_name: name });
    const change = await this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const association = await this.find(records, destination.id, found);
      refuseRuled(association);
      if (association?.rules?.length && association.wanted === 'synced') {
        const ruled = { ...association, by_rule_alone: true };
        await records.associations.put(idOf(ruled), ruled);
        return queued(ruled);
      }
      return association && queued(await this.#queue.add(tx, association, { wanted: 'removed' }));
    });
    return { change, found };
  }

  /** The association of a secret with a destination. */
  async find(
    records: Records,
    destination: string,
    { uuid, secret }: Pick<Found, 'uuid' | 'secret'>,
  ): Promise<AssociationRecord | undefined> {
    const followed = await records.followed.get(secretId(uuid, secret));
    const id = followed?.associations.find((candidate) => candidate.startsWith(`${destination}/`));
    return id === undefined ? undefined : records.associations.get(id);
  }

  /** All associations of a secret. */
  async ofSecret(asked: Asked): Promise<AssociationRecord[]> {
    const name = asked.secret_name?.replace(/^\/+/, '') ?? '';
    const mount = this.#sources.at(asked.mount ?? '')?.mount;
    if (!mount || name === '') return [];
    const records = recordsIn(this.#host.storage);
    const ids = (await records.followed.get(secretId(mount.uuid, name)))?.associations ?? [];
    const found = await Promise.all(ids.map(async (id) => records.associations.get(id)));
    return found.filter((association) => association !== undefined);
  }

  /** Where the mount of an association is now; where it was, if it is gone. */
  mountPath({ mount, mount_path }: AssociationRecord): string {
    return this.#sources.byUuid(mount)?.mount.path ?? mount_path;
  }

  /** An association by its id, as operators know it. */
  async about(id: string): Promise<Subject | undefined> {
    const association = await recordsIn(this.#host.storage).associations.get(id);
    if (!association) return undefined;
    const secret = `${this.mountPath(association)}${association.secret_name}`;
    return { noun: 'association', name: `${secret} → ${association.place}`, path: `destinations/${association.place}/associations` };
  }

  /** @throws BadRequest where nothing is mounted */
  mountOf(mount: string | undefined): FoundMount {
    const found = this.#sources.at(checkedMount(mount));
    if (!found) throw new BadRequest(`mount: no secrets engine is mounted at ${JSON.stringify(mount)}`);
    const { uuid, accessor, path } = found.mount;
    return { uuid, path, accessor };
  }

  #secret({ mount, secret_name }: Asked): Found {
    checkedMount(mount);
    const secret = checkedName(secret_name);
    return { ...this.mountOf(mount), secret };
  }

  /** A secret that the caller may read. @throws BadRequest, PermissionDenied */
  async #readable(req: Pick<EngineRequest, 'id' | 'caller'>, asked: Asked): Promise<{ found: Found; secret: SourceSecret }> {
    const found = this.#secret(asked);
    const { source } = this.#sources.byUuid(found.uuid) ?? {};
    if (!source) throw new BadRequest(`"${found.path}" offers no secrets to sync: only version-2 key-value mounts do`);
    if (!this.#sources.mayRead(req, `${found.path}${source.readPath(found.secret)}`)) {
      throw new PermissionDenied(`permission denied to read the content of the secret ${found.secret} in mount ${found.path.slice(0, -1)}`);
    }
    const secret = await source.read(found.secret);
    if (!secret) throw new BadRequest(NOT_FOUND);
    return { found, secret };
  }

  /** A new association, not yet in the queue. */
  async link(
    tx: Transaction,
    records: Records,
    destination: DestinationRecord,
    { uuid, path, accessor, secret }: Found,
  ): Promise<AssociationRecord> {
    const association: AssociationRecord = {
      id: Buffer.from(this.#host.randomBytes(12)).toString('hex'),
      destination: destination.id,
      place: placeOf(destination),
      mount: uuid,
      accessor,
      mount_path: path,
      secret_name: secret,
      secret_name_template: destination.secret_name_template,
      granularity: destination.granularity,
      wanted: 'synced',
      status: 'PENDING',
      updated_at: this.#host.clock.now().toISOString(),
      change: 0,
      verify: true,
      source_version: 0,
      remotes: [],
      claimed: [],
      attempts: 0,
    };
    const key = secretId(uuid, secret);
    const others = (await records.followed.get(key))?.associations ?? [];
    await records.followed.put(key, { associations: [...others, idOf(association)] });
    await this.#subscribers.subscribe(tx, uuid);
    return association;
  }

  /** Claims the names that the secret gets outside, so that no other association gets them. @throws BadRequest when one is taken or does not fit */
  async #claim(
    records: Records,
    destination: DestinationRecord,
    association: AssociationRecord,
    keys: readonly string[],
    limits: DestinationLimits,
  ): Promise<string[]> {
    const names: string[] = [];
    const mine = new Set<string>();
    for (const key of keys) {
      const name = nameFor(destination, association, key, limits.name);
      const claim = nameId(destination.id, name, limits.name);
      const owner = await nameOwnerIn(records, claim);
      if (mine.has(claim)) throw new BadRequest(`two keys of the secret get the same name ${JSON.stringify(name)}: ${DIFFER}`);
      if (owner !== undefined && owner !== idOf(association)) {
        throw new BadRequest(`the name ${JSON.stringify(name)} is used by another association of this destination: ${DIFFER}`);
      }
      mine.add(claim);
      names.push(name);
      if (owner === undefined) await records.names.put(claim, { association: idOf(association) });
    }
    return names;
  }
}

const DIFFER = 'change secret_name_template so that names differ';

function nameFor(
  destination: DestinationRecord,
  association: Parameters<typeof remoteName>[1],
  key: string,
  limits: DestinationLimits['name'],
): string {
  try {
    return remoteName(destination, association, key, limits);
  } catch (error) {
    if (error instanceof Refusal) throw new BadRequest(error.message);
    throw error;
  }
}

function checkedMount(mount: string | undefined): string {
  const path = mount?.replace(/^\/+/, '') ?? '';
  if (path === '') throw new BadRequest('missing required field "mount"');
  return path;
}

function checkedName(secretName: string | undefined): string {
  const name = secretName?.replace(/^\/+/, '') ?? '';
  if (name === '' || name.endsWith('/')) throw new BadRequest(NOT_FOUND);
  if (Buffer.byteLength(name) > LONGEST_NAME) throw new BadRequest(`secret_name must have at most ${LONGEST_NAME} bytes`);
  return name;
}
