import { BadRequest, type EngineHost, type OutsideThing, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { ConfigurationInvalid, MASK, maskedFields, NetworkPolicy, tagsComplaint, type SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { pages, placeOf, recordsIn, type AssociationRecord, type ConflictPolicy, type DestinationRecord } from './records.ts';
import { forgetDestination } from './reconciliation.ts';
import { templateComplaint, templateOf } from './remote-names.ts';
import { networkRules, type Sessions } from './sessions.ts';
import type { Retries } from './retries.ts';
import { forgetRules } from './forget-rules.ts';
import type { SyncQueue } from './sync-queue.ts';
import { forgetAssociation } from './sync-run.ts';
import { checkAccountAddress, checkRequired, checkSecretsKnown, merged } from './written-fields.ts';

/** Fields of every destination, as a write sends them. */
export interface HostFields {
  readonly secret_name_template?: string | undefined;
  readonly granularity?: string | undefined;
  readonly custom_tags?: Record<string, string> | undefined;
  readonly on_conflict?: string | undefined;
  readonly reconcile_interval?: number | undefined;
  readonly allowed_ipv4_addresses?: string[] | undefined;
  readonly allowed_ipv6_addresses?: string[] | undefined;
  readonly allowed_ports?: number[] | undefined;
  readonly disable_strict_networking?: boolean | undefined;
}

/** Copies that an answer lists; the rest is counted. */
const MOST_LISTED = 1_000;

/** What exists outside and this server no longer tracks. */
export interface LeftOutside {
  readonly things: readonly OutsideThing[];
  /** Of all of them, also those that the list leaves out. */
  readonly total: number;
}

const copyOf = (secret: string, key: string): string => `a copy of ${secret}${key === '' ? '' : `, key ${key}`}`;

/** A write of a destination, as the caller sent it. */
export interface DestinationWrite {
  readonly sent: HostFields & Readonly<Record<string, unknown>>;
  readonly supplied: ReadonlySet<string>;
  /** Whether the caller may move stored secrets to another address. */
  readonly sudo: boolean;
}

/** What a destination that is being purged keeps: the rest says how it is reached, and may be what is in the way. */
const KEPT_IN_PURGE = ['secret_name_template', 'granularity', 'custom_tags', 'on_conflict', 'reconcile_interval'] as const;
/** Seconds. More often, the comparisons of large destinations would never end. */
const SHORTEST_INTERVAL = 60;
const DAY = 86_400;
const PAGE = 200;

/** The stored destinations: how they are written, shown and taken away. */
export class Destinations {
  readonly #host: EngineHost;
  readonly #sessions: Sessions;
  readonly #queue: SyncQueue;
  readonly #retries: Retries;

  constructor(host: EngineHost, sessions: Sessions, queue: SyncQueue, retries: Retries) {
    this.#host = host;
    this.#sessions = sessions;
    this.#queue = queue;
    this.#retries = retries;
  }

  /** Creates or changes; what was not sent stays. @throws BadRequest */
  async write(
    plugin: SyncDestinationPlugin,
    name: string,
    write: DestinationWrite,
    after: (tx: Transaction, destination: DestinationRecord) => Promise<void>,
  ): Promise<DestinationRecord> {
    const written = await this.#host.storage.transaction(async (tx) => {
      const destination = await this.#checked(tx, plugin, name, write);
      await recordsIn(tx).destinations.put(placeOf(destination), destination);
      await this.#retries.plan(tx, destination);
      await after(tx, destination);
      return destination;
    });
    await this.#retries.written(written);
    return written;
  }

  /** What a write would store, which is not stored. @throws BadRequest where the write would be refused */
  async wouldBe(plugin: SyncDestinationPlugin, name: string, write: DestinationWrite): Promise<DestinationRecord> {
    return this.#checked(this.#host.storage, plugin, name, write);
  }

  /** @throws BadRequest */
  async #checked(
    storage: Pick<StorageView, 'collection'>,
    plugin: SyncDestinationPlugin,
    name: string,
    { sent, supplied, sudo }: DestinationWrite,
  ): Promise<DestinationRecord> {
    const records = recordsIn(storage);
    const place = placeOf({ type: plugin.name, name });
    const before = await records.destinations.get(place);
    const formerly = before ? before.formerly : (await records.formerDestinations.get(place))?.ids;
    const destination = { ...this.#changed(plugin, name, before, sent, supplied), ...(formerly ? { formerly } : {}) };
    const kept = before?.purge ? KEPT_IN_PURGE.filter((field) => !same(before[field], destination[field])) : [];
    if (kept.length > 0) {
      throw new BadRequest(
        `${kept.join(', ')} cannot be changed: the destination ${place} is being purged, and only how it is reached can be mended`,
      );
    }
    check(plugin, destination);
    await checkAccount(plugin, destination, async (id) => records.accounts.has(id));
    const moved = before && plugin.fixed.filter((field) => !same(before.connection[field], destination.connection[field]));
    if (before && moved && moved.length > 0) {
      const associations = await records.associations.list({ prefix: `${before.id}/`, limit: 1 });
      if (associations.length > 0) {
        throw new BadRequest(
          `${moved.join(', ')} cannot be changed while the destination has associations, whose secrets would be left behind in the old place: ` +
            'remove the associations first, or make another destination',
        );
      }
    }
    checkSecretsKnown(plugin.connection, { before: before?.connection, after: destination.connection, sent, supplied, sudo });
    if (plugin.accounts) {
      checkAccountAddress(plugin.connection, plugin.accounts, { before: before?.connection, after: destination.connection, sudo });
    }
    return destination;
  }

  /** As answers carry it. Without its plugin it is unknown what is secret, so nothing of the connection is shown. */
  shown(plugin: SyncDestinationPlugin | undefined, destination: DestinationRecord): Record<string, unknown> {
    const { allowed_ipv4_addresses, allowed_ipv6_addresses, allowed_ports, disable_strict_networking } = destination;
    return {
      name: destination.name,
      type: destination.type,
      connection_details: {
        ...(plugin ? maskedFields(plugin.connection, destination.connection) : allMasked(destination.connection)),
        ...(allowed_ipv4_addresses.length > 0 ? { allowed_ipv4_addresses } : {}),
        ...(allowed_ipv6_addresses.length > 0 ? { allowed_ipv6_addresses } : {}),
        ...(allowed_ports.length > 0 ? { allowed_ports } : {}),
        ...(disable_strict_networking ? { disable_strict_networking } : {}),
      },
      options: {
        ...(plugin?.options.customTags !== false ? { custom_tags: destination.custom_tags } : {}),
        granularity_level: destination.granularity,
        secret_name_template: plugin ? templateOf(plugin, destination) : destination.secret_name_template,
        on_conflict: destination.on_conflict,
        reconcile_interval: destination.reconcile_interval,
      },
      ...(destination.purge ? { purge_initiated_at: destination.purge.initiated_at } : {}),
      ...(destination.purge?.error === undefined ? {} : { purge_error: destination.purge.error }),
    };
  }

  /** @throws BadRequest while associations exist */
  async deleteEmpty(place: string): Promise<void> {
    const gone = await this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const destination = await records.destinations.get(place);
      if (!destination) return undefined;
      const associations = await records.associations.list({ prefix: `${destination.id}/`, limit: 1 });
      const rules = await records.rules.entries({});
      if (associations.length > 0 || rules.some(([, rule]) => rule.destination === destination.id)) {
        const things = associations.length > 0 ? 'associations' : 'rules';
        throw new BadRequest(
          `the destination ${place} still manages ${things}: remove them first, or delete it with purge=true, which unsyncs them`,
        );
      }
      await forgetDestination(tx, place);
      return destination.id;
    });
    if (gone !== undefined) this.#sessions.forget(gone);
  }

  /** Unsyncs everything, then goes. Resolves with the destination as long as it is still there. */
  async purge(place: string): Promise<DestinationRecord | undefined> {
    const marked = await this.#markPurged(place);
    if (!marked) return undefined;
    const { id } = marked;
    for await (const page of pages(recordsIn(this.#host.storage).associations, `${id}/`)) {
      await this.removeAll(page.map(([key]) => key));
    }
    const records = recordsIn(this.#host.storage);
    if ((await records.associations.list({ prefix: `${id}/`, limit: 1 })).length === 0) await this.deleteEmpty(place);
    return (await records.destinations.get(place))?.id === id ? records.destinations.get(place) : undefined;
  }

  /** Takes the destination away with all its associations; what exists outside stays, and is what this resolves with. */
  async drop(place: string): Promise<LeftOutside> {
    const marked = await this.#markPurged(place);
    if (!marked) return { things: [], total: 0 };
    const { id } = marked;
    const things: OutsideThing[] = [];
    let total = 0;
    const leave = ({ remotes, secret_name }: AssociationRecord): void => {
      for (const { name, key, fingerprint, writing } of remotes) {
        // Nothing of ours was ever asked for under this name.
        if (fingerprint === undefined && writing === undefined) continue;
        total += 1;
        if (things.length < MOST_LISTED) things.push({ kind: 'secret', name, system: place, detail: copyOf(secret_name, key) });
      }
    };
    const { associations, names } = recordsIn(this.#host.storage);
    for (;;) {
      const ids = await associations.list({ prefix: `${id}/`, limit: PAGE });
      if (ids.length === 0) break;
      const gone = await this.#host.storage.transaction(async (tx) => {
        const records = recordsIn(tx);
        const page: AssociationRecord[] = [];
        for (const key of ids) {
          const association = await records.associations.get(key);
          if (!association) continue;
          await forgetAssociation(records, association);
          await this.#queue.unschedule(tx, association);
          page.push(association);
        }
        return page;
      });
      gone.forEach(leave);
    }
    for (;;) {
      const claims = await names.list({ prefix: `${id}/`, limit: PAGE });
      if (claims.length === 0) break;
      await this.#host.storage.transaction(async (tx) => {
        for (const claim of claims) await recordsIn(tx).names.delete(claim);
      });
    }
    await this.deleteEmpty(place);
    return { things, total };
  }

  /** Puts the removal of these associations into the queue. */
  async removeAll(ids: readonly string[]): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      for (const id of ids) {
        const association = await records.associations.get(id);
        if (association && association.wanted !== 'removed') await this.#queue.add(tx, association, { wanted: 'removed' });
      }
    });
  }

  async #markPurged(place: string): Promise<DestinationRecord | undefined> {
    return this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const { destinations } = records;
      const destination = await destinations.get(place);
      if (!destination || destination.purge) return destination;
      await forgetRules(records, (rule) => rule.destination === destination.id);
      const purged = { ...destination, purge: { initiated_at: this.#host.clock.now().toISOString() } };
      await destinations.put(place, purged);
      return purged;
    });
  }

  #changed(
    plugin: SyncDestinationPlugin,
    name: string,
    before: DestinationRecord | undefined,
    sent: HostFields & Readonly<Record<string, unknown>>,
    supplied: ReadonlySet<string>,
  ): DestinationRecord {
    return {
      id: before?.id ?? Buffer.from(this.#host.randomBytes(12)).toString('hex'),
      type: plugin.name,
      name,
      connection: merged(plugin.connection, before?.connection, sent, supplied),
      allowed_ipv4_addresses: sent.allowed_ipv4_addresses ?? before?.allowed_ipv4_addresses ?? [],
      allowed_ipv6_addresses: sent.allowed_ipv6_addresses ?? before?.allowed_ipv6_addresses ?? [],
      allowed_ports: sent.allowed_ports ?? before?.allowed_ports ?? [],
      disable_strict_networking: sent.disable_strict_networking ?? before?.disable_strict_networking ?? false,
      secret_name_template: sent.secret_name_template ?? before?.secret_name_template ?? '',
      granularity: (sent.granularity as AssociationRecord['granularity'] | undefined) ?? before?.granularity ?? plugin.options.granularity,
      custom_tags: sent.custom_tags ?? before?.custom_tags ?? {},
      on_conflict: (sent.on_conflict as ConflictPolicy | undefined) ?? before?.on_conflict ?? 'fail',
      reconcile_interval: sent.reconcile_interval ?? before?.reconcile_interval ?? DAY,
      generation: (before?.generation ?? 0) + 1,
      ...(before?.purge ? { purge: { initiated_at: before.purge.initiated_at } } : {}),
    };
  }
}

/** All that is wrong and can be seen without connecting. @throws BadRequest */
function check(plugin: SyncDestinationPlugin, destination: DestinationRecord): void {
  checkRequired(plugin.connection, destination.connection);
  const complaints = [...(plugin.check?.(destination.connection) ?? [])];
  const template = templateComplaint(templateOf(plugin, destination));
  if (template !== undefined) complaints.push(`secret_name_template: ${template}`);
  if (complaints.length === 0) {
    const { tags } = plugin.limits(destination.connection);
    const complaint = tags && tagsComplaint(tags, destination.custom_tags);
    if (complaint !== undefined) complaints.push(`custom_tags ${complaint}`);
  }
  if (Object.keys(destination.custom_tags).length > 0 && !plugin.options.customTags) {
    complaints.push(`custom_tags are not possible: ${plugin.title} keeps no tags`);
  }
  const { reconcile_interval: interval } = destination;
  if (interval !== 0 && interval < SHORTEST_INTERVAL) {
    complaints.push(`reconcile_interval must be at least ${SHORTEST_INTERVAL} seconds, or 0 for never`);
  }
  try {
    new NetworkPolicy(networkRules(destination));
  } catch (error) {
    if (!(error instanceof ConfigurationInvalid)) throw error;
    complaints.push(error.message);
  }
  if (complaints.length > 0) throw new BadRequest(complaints.join('; '));
}

async function checkAccount(
  { accounts }: SyncDestinationPlugin,
  { connection }: DestinationRecord,
  has: (id: string) => Promise<boolean>,
): Promise<void> {
  const name = accounts && connection[accounts.field];
  if (!accounts || typeof name !== 'string' || (await has(`${accounts.collection}/${name}`))) return;
  throw new BadRequest(`${accounts.field}: there is no ${JSON.stringify(name)} in sys/sync/${accounts.collection}`);
}

function allMasked(connection: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(connection).map((name) => [name, MASK]));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
