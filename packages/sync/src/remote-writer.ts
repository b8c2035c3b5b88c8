import { isSyncError, nameComplaint, tagsComplaint, type RemoteSecret } from '@strongroom/sync-sdk';
import type { Content } from './contents.ts';
import type { DestinationRecord, RemoteRecord } from './records.ts';
import type { OpenDestination } from './sessions.ts';
import { Refusal } from './sync-status.ts';

/** What should stand under a remote name. */
export interface Wanted extends Content {
  readonly fingerprint: string;
  /** Of a secret that is itself a copy. */
  readonly origin?: string;
}

/** How often a name that is taken between the look and the write is looked at again. */
const LOOKS = 2;
/** How far the clock of a provider may be behind ours; most tell times by the second. Milliseconds. */
const SKEW = 5_000;

/**
 * What we wrote is gone. Where the provider keeps no marks, that is stored before it is made again: the record of the old one would not
 * tell the new one from somebody else's.
 */
export class Vanished extends Error {}

/** Brings one secret outside to what it should be, and harms none that is not ours. */
export class RemoteWriter {
  readonly #destination: DestinationRecord;
  readonly #open: OpenDestination;
  readonly #signal: AbortSignal;
  readonly #since: string;
  #held: number | undefined;

  /** `since`: when this run stored its intents. */
  constructor(destination: DestinationRecord, open: OpenDestination, signal: AbortSignal, since: string) {
    this.#destination = destination;
    this.#open = open;
    this.#signal = signal;
    this.#since = since;
  }

  /** Writes unless what is there is right already; resolves with what is there then. @throws Refusal, or an error of the session */
  async write(remote: RemoteRecord, wanted: Wanted): Promise<RemoteSecret> {
    this.#checkContent(wanted);
    for (let attempt = 1; ; attempt += 1) {
      const current = await this.#open.session.read({ name: remote.name, signal: this.#signal });
      const ours = current !== undefined && this.owns(remote, current);
      if (ours && !current.softDeleted && isAsWritten(remote, wanted, current)) return current;
      if (current && !ours) this.#decide(remote, current);
      if (!current && remote.identity !== undefined && this.#open.plugin.ownership === 'recorded') throw new Vanished();
      if (!current) await this.#checkCount();
      try {
        return await this.#open.session.put({
          name: remote.name,
          value: wanted.value,
          ...(this.#open.limits.keys ? { fields: wanted.fields } : {}),
          mark: { destination: this.#destination.id, association: remote.id },
          tags: this.#destination.custom_tags,
          operationId: remote.writing!.operation,
          signal: this.#signal,
          ...(wanted.origin === undefined ? {} : { origin: wanted.origin }),
          ...(current ? { current } : {}),
        });
      } catch (error) {
        if (!isSyncError(error, 'name_taken') || attempt >= LOOKS) throw error;
      }
    }
  }

  /** Removes what is ours; what is somebody else's by now is not touched. */
  async remove(remote: RemoteRecord): Promise<'removed' | 'not ours'> {
    const current = await this.#open.session.read({ name: remote.name, signal: this.#signal });
    if (!current || current.softDeleted) return 'removed';
    if (!this.owns(remote, current)) return 'not ours';
    await this.#open.session.remove({ name: remote.name, current, signal: this.#signal });
    return 'removed';
  }

  owns(remote: RemoteRecord, current: RemoteSecret): boolean {
    return ownedBy(this.#destination, this.#open.plugin.ownership, remote, current, this.#since);
  }

  #decide(remote: RemoteRecord, current: RemoteSecret): void {
    const policy = this.#destination.on_conflict;
    const { title } = this.#open.plugin;
    const there = `a secret named ${JSON.stringify(remote.name)} ${current.softDeleted ? 'was deleted but can be recovered' : 'is'} in ${title}`;
    if (policy === 'fail') {
      throw new Refusal('conflict', `${there} and is not ours; remove it, or set on_conflict to "adopt" or "overwrite"`);
    }
    if (policy === 'adopt' && current.mark) {
      throw new Refusal('conflict', `${there} and belongs to another destination; on_conflict "adopt" takes what nobody has marked`);
    }
  }

  #checkContent({ value, fields }: Content): void {
    const { limits, plugin } = this.#open;
    for (const key of limits.keys ? Object.keys(fields) : []) {
      const complaint = nameComplaint(limits.keys!, key);
      if (complaint !== undefined) throw new Refusal('invalid_key', `the key ${JSON.stringify(key)} of the secret ${complaint}`);
    }
    const texts = limits.keys ? Object.values(fields) : [value];
    const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (size > limits.valueMaxBytes) {
      throw new Refusal('value_too_large', `the value has ${size} bytes, and ${plugin.title} takes at most ${limits.valueMaxBytes}`);
    }
    if (size === 0 && !limits.emptyValue) throw new Refusal('value_empty', `the value is empty, which ${plugin.title} does not take`);
    const complaint = limits.tags && tagsComplaint(limits.tags, this.#destination.custom_tags);
    if (complaint !== undefined) throw new Refusal('invalid_tags', `custom_tags ${complaint}`);
  }

  async #checkCount(): Promise<void> {
    const { limits, plugin, session } = this.#open;
    if (limits.maxCount === undefined || !session.count) return;
    this.#held ??= await session.count(this.#signal);
    if (this.#held >= limits.maxCount) {
      throw new Refusal('too_many_secrets', `${plugin.title} holds ${this.#held} secrets there, and takes at most ${limits.maxCount}`);
    }
    this.#held += 1;
  }
}

/** Whether what exists outside is what we wrote last, and should be. */
function isAsWritten(remote: RemoteRecord, wanted: Wanted, current: RemoteSecret): boolean {
  return remote.fingerprint === wanted.fingerprint && remote.revision !== undefined && remote.revision === current.revision;
}

/**
 * Whether a remote secret is ours: by its mark (what is soft-deleted also by that of a deleted destination of the same name), or, where the provider keeps none, by our own record. A creation that an earlier run began
 * and whose end is unknown counts from the time it was meant; one that this run has only just begun does not.
 */
export function ownedBy(
  { id, formerly = [] }: Pick<DestinationRecord, 'id' | 'formerly'>,
  ownership: 'marked' | 'recorded',
  remote: Pick<RemoteRecord, 'identity' | 'writing'>,
  current: RemoteSecret,
  thisRun?: string,
): boolean {
  if (ownership === 'marked') {
    const owner = current.mark?.destination;
    return owner === id || (owner !== undefined && current.softDeleted === true && formerly.includes(owner));
  }
  if (remote.identity !== undefined) return current.identity === remote.identity;
  const since = remote.writing?.since;
  if (since === undefined || since === thisRun || current.createdAt === undefined) return false;
  return current.createdAt.getTime() + SKEW >= Date.parse(since);
}
