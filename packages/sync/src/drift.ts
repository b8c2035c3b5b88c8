import type { EngineHost, SecretSources } from '@strongroom/engine-sdk';
import type { NameLimits, RemoteSecret } from '@strongroom/sync-sdk';
import { contentsOf, type Content } from './contents.ts';
import type { Fingerprints } from './fingerprints.ts';
import { nameOwnerIn, pages, recordsIn, type AssociationRecord, type DestinationRecord, type RemoteRecord } from './records.ts';
import { nameId, remoteName } from './remote-names.ts';
import { ownedBy } from './remote-writer.ts';
import type { Sessions } from './sessions.ts';
import { Refusal } from './sync-status.ts';

export type Difference =
  /** Should exist outside and does not. */
  | 'add'
  /** Exists outside with what we wrote, and should hold something else. */
  | 'change'
  /** Somebody changed the value that we wrote. */
  | 'foreign_edit'
  /** Exists outside and should not. */
  | 'remove'
  /** Its name is taken by what is not ours. */
  | 'conflict'
  /** Cannot be written as it stands; the association says why. */
  | 'refused';

export interface Finding {
  readonly difference: Difference;
  readonly association: AssociationRecord;
  readonly key: string;
  readonly remoteName: string;
  readonly remoteVersion?: string;
}

/** More missing secrets than these are listed without a look. */
const MOST_LOOKS = 200;

interface Listener {
  /** Called for the id of an association with any difference, perhaps more than once. */
  differs(association: string, finding: Finding): Promise<void>;
  /** Carries the mark of this destination, and no association has it. */
  orphan(secret: RemoteSecret): Promise<void>;
  /** Look whether a missing secret's name is taken: a call for each. */
  readonly looks?: boolean;
}

/** Compares what exists outside with what should. It reads and writes nothing but its own store; outside it lists. */
export class Drift {
  readonly #host: EngineHost;
  readonly #sources: SecretSources;
  readonly #sessions: Sessions;
  readonly #fingerprints: Fingerprints;

  constructor(host: EngineHost, sources: SecretSources, sessions: Sessions, fingerprints: Fingerprints) {
    this.#host = host;
    this.#sources = sources;
    this.#sessions = sessions;
    this.#fingerprints = fingerprints;
  }

  /** Resolves with the number of remote secrets that are as they should be. */
  async compare(destination: DestinationRecord, signal: AbortSignal, listener: Listener): Promise<number> {
    return this.#sessions.use(destination, async ({ session, limits, plugin }) => {
      const records = recordsIn(this.#host.storage);
      // Short texts, so that many secrets take little memory: the name as claimed, and what tells one state from another.
      const outside = new Map<string, RemoteSecret>();
      for await (const secret of session.list({ destination: destination.id, signal })) {
        const claim = nameId(destination.id, secret.name, limits.name);
        const owner = await nameOwnerIn(records, claim);
        if (owner !== undefined) outside.set(claim, secret);
        else if (plugin.ownership === 'marked') await listener.orphan(secret);
      }
      let right = 0;
      let looks = 0;
      for await (const page of pages(records.associations, `${destination.id}/`)) {
        for (const [id, association] of page) {
          signal.throwIfAborted();
          for (const finding of await this.#findings(destination, association, limits, plugin.ownership, outside)) {
            if (finding === 'right') right += 1;
            else if (finding.difference === 'add' && listener.looks === true && looks < MOST_LOOKS) {
              looks += 1;
              const there = await session.read({ name: finding.remoteName, signal });
              const own = there && finding.association.remotes.find((remote) => ownedBy(destination, plugin.ownership, remote, there));
              // Lists of some providers are seconds behind.
              if (own?.status === 'SYNCED' && !there?.softDeleted && own.revision === there?.revision) right += 1;
              else await listener.differs(id, there && !own ? { ...finding, difference: 'conflict' } : finding);
            } else await listener.differs(id, finding);
          }
        }
      }
      return right;
    });
  }

  async #findings(
    destination: DestinationRecord,
    association: AssociationRecord,
    limits: Parameters<typeof nameId>[2] extends infer N ? { readonly name: N } : never,
    ownership: 'marked' | 'recorded',
    outside: ReadonlyMap<string, RemoteSecret>,
  ): Promise<(Finding | 'right')[]> {
    const source = this.#sources.byUuid(association.mount)?.source;
    if (!source && association.wanted === 'synced') return unreadable(association, outside, destination, limits.name);
    const secret = association.wanted === 'synced' ? await source?.read(association.secret_name) : undefined;
    const contents = secret ? contentsOf(secret.data, association.granularity) : new Map<string, Content>();
    const remotes = new Map(association.remotes.map((remote) => [remote.name, remote]));
    const found: (Finding | 'right')[] = [];
    const finding = (difference: Difference, key: string, name: string, there?: RemoteSecret): Finding => ({
      difference,
      association,
      key,
      remoteName: name,
      ...(there?.revision === undefined ? {} : { remoteVersion: there.revision }),
    });
    for (const [key, { value }] of contents) {
      let name: string;
      try {
        name = remoteName(destination, association, key, limits.name);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        found.push(finding('refused', key, ''));
        continue;
      }
      const remote = remotes.get(name);
      remotes.delete(name);
      const there = outside.get(nameId(destination.id, name, limits.name));
      const wanted = await this.#fingerprints.of(value, destination.custom_tags);
      const difference = differenceOf(destination, ownership, remote, wanted, there);
      found.push(difference === undefined ? 'right' : finding(difference, key, name, there));
    }
    for (const remote of remotes.values()) {
      const there = outside.get(nameId(destination.id, remote.name, limits.name));
      if (there && ownedBy(destination, ownership, remote, there)) found.push(finding('remove', remote.key, remote.name, there));
    }
    return found;
  }
}

/** The secrets engine of the mount does not run: nothing is known of what should exist outside. */
function unreadable(
  association: AssociationRecord,
  outside: ReadonlyMap<string, RemoteSecret>,
  destination: DestinationRecord,
  limits: NameLimits,
): Finding[] {
  const finding = { difference: 'refused', association } as const;
  const remotes = association.remotes.filter(({ leaving }) => !leaving);
  if (remotes.length === 0) return [{ ...finding, key: '', remoteName: '' }];
  return remotes.map(({ key, name }) => {
    const revision = outside.get(nameId(destination.id, name, limits))?.revision;
    return { ...finding, key, remoteName: name, ...(revision === undefined ? {} : { remoteVersion: revision }) };
  });
}

function differenceOf(
  destination: DestinationRecord,
  ownership: 'marked' | 'recorded',
  remote: RemoteRecord | undefined,
  wanted: string,
  there: RemoteSecret | undefined,
): Difference | undefined {
  if (!there) return remote?.last_error?.code === 'conflict' ? 'conflict' : 'add';
  if (!remote || !ownedBy(destination, ownership, remote, there)) return 'conflict';
  if (remote.revision !== there.revision) return remote.writing ? 'change' : 'foreign_edit';
  return remote.fingerprint === wanted ? undefined : 'change';
}
