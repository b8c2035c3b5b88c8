import { EngineError, mapConcurrently, type Clock, type StorageView } from '@strongroom/engine-sdk';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { LeaseCap } from './lease-cap.ts';
import { LeaseTally, type Hold } from './lease-tally.ts';
import { inScope, type QuotaScope, type QuotaSubject } from './quota-scope.ts';
import { QuotaRules } from './quota-rules.ts';
import type { Place } from '../../kernel/share-of-limit.ts';

/** As many leases live as may. */
export class LeaseCountExceeded extends EngineError {
  override readonly status = 429;
  override readonly form = 'plain' as const;
}

/** Room for one more lease, with what its answer warns of. */
export interface LeaseRoom extends Hold {
  readonly warnings: readonly string[];
}

/** The part of a cap from which on answers warn. */
const EARLY = 0.8;
/** A count that refuses is at most so old; one that other servers have issued beside, at most so old. Milliseconds. */
const FRESH = 1_000;
const SHARED = 5_000;
const PAGE = 1_000;
/** Tokens that a count reads at the same time. */
const READS = 100;

interface Parts {
  readonly storage: StorageView;
  readonly clock: Clock;
  readonly place: () => Place;
  readonly mount: (uuid: string) => Mount | undefined;
  /** Ids of leases below a path, in order, with whether they are of tokens. */
  readonly ids: (prefix: string, query: { after?: string; limit: number }) => Promise<{ id: string; token: boolean }[]>;
  /** The role of the login that made a token, by the token's digest; '' if there is none. */
  readonly roleOfToken: (digest: string) => Promise<string>;
}

/** How many leases may live on a mount, below a path, or of a role. Every cap that contains a lease holds for it. */
export class LeaseCaps {
  readonly rules: QuotaRules<LeaseCap>;
  readonly #parts: Parts;
  readonly #tallies = new Map<string, LeaseTally>();
  #changes = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.rules = new QuotaRules(parts.storage.collection('lease-count/', LeaseCap, { cached: true }), (name) => this.#tallies.delete(name));
  }

  load(): Promise<void> {
    return this.rules.load();
  }

  /** Reserves room for a lease or token that the request is about to get. @throws LeaseCountExceeded */
  async reserve(subject: QuotaSubject): Promise<LeaseRoom | undefined> {
    if (this.rules.empty) return undefined;
    const caps = this.#caps(subject);
    const { of, changes } = this.#parts.place();
    // A server that has gone, or that came while this one was sealed, may have issued some since the last count.
    if (changes !== this.#changes) for (const tally of this.#tallies.values()) tally.forget();
    this.#changes = changes;
    for (const { tally } of caps) await tally.refresh(of > 1 ? SHARED : Infinity);
    for (const { tally, cap } of caps) if (tally.total >= cap.max_leases) await tally.refresh(FRESH);
    // From here on nothing is waited for, so that no other request takes the room.
    const full = caps.find(({ tally, cap }) => tally.total >= cap.max_leases);
    if (full) {
      throw new LeaseCountExceeded(
        `lease count quota exceeded: the quota ${JSON.stringify(full.name)} allows ${full.cap.max_leases} leases, and ${full.tally.total} live; revoke some, or raise max_leases`,
      );
    }
    const warnings = caps
      .filter(({ tally, cap }) => tally.total + 1 >= cap.max_leases * EARLY)
      .map(
        ({ name, tally, cap }) => `lease count quota ${JSON.stringify(name)}: ${tally.total + 1} of ${cap.max_leases} leases are in use`,
      );
    const holds = caps.map(({ tally }) => tally.hold());
    return {
      warnings,
      settle: () => {
        for (const hold of holds) hold.settle();
      },
      release: () => {
        for (const hold of holds) hold.release();
      },
    };
  }

  /** The same for a login that waited for a second factor: its path is that of its first step. */
  async reserveLogin({
    mount,
    path,
    role,
  }: {
    readonly mount: Mount;
    readonly path: string;
    readonly role: string;
  }): Promise<LeaseRoom | undefined> {
    return this.reserve({ mount: mount.uuid, rest: path.slice(mount.path.length), role });
  }

  /** The leases that a cap counts now. */
  async used(name: string): Promise<number> {
    const cap = this.rules.get(name);
    if (!cap) return 0;
    const tally = this.#tally(name, cap);
    await tally.refresh(FRESH);
    return tally.total;
  }

  /** Of every cap, without a new count: for metrics. */
  figures(): { readonly name: string; readonly leases: number; readonly max: number }[] {
    return [...this.rules.all()].map(([name, cap]) => ({ name, leases: this.#tally(name, cap).total, max: cap.max_leases }));
  }

  #caps(subject: QuotaSubject): { name: string; cap: LeaseCap; tally: LeaseTally }[] {
    const mount = subject.mount === undefined ? undefined : this.#parts.mount(subject.mount);
    return [...this.rules.all()]
      .filter(([, { scope }]) => covers(scope, mount, subject))
      .map(([name, cap]) => ({ name, cap, tally: this.#tally(name, cap) }));
  }

  #tally(name: string, cap: LeaseCap): LeaseTally {
    let tally = this.#tallies.get(name);
    if (!tally) {
      tally = new LeaseTally(
        async () => this.#count(cap.scope),
        () => this.#parts.clock.millis(),
      );
      this.#tallies.set(name, tally);
    }
    return tally;
  }

  async #count(scope: QuotaScope): Promise<number> {
    const { ids, mount: mountOf, roleOfToken } = this.#parts;
    const mount = scope.mount === '' ? undefined : mountOf(scope.mount);
    if (scope.mount !== '' && !mount) return 0;
    const above = mount?.path ?? '';
    const prefix = above + scope.suffix.replace(/\*$/, '');
    let count = 0;
    let after: string | undefined;
    do {
      const page = await ids(prefix, { limit: PAGE, ...(after === undefined ? {} : { after }) });
      await mapConcurrently(page, READS, async ({ id, token }) => {
        const end = id.lastIndexOf('/');
        const role = scope.role !== '' && mount?.class === 'auth' && token ? await roleOfToken(id.slice(end + 1)) : '';
        if (covers(scope, mount, { mount: scope.mount, rest: id.slice(above.length, end), role })) count += 1;
      });
      after = page.length < PAGE ? undefined : page.at(-1)!.id;
    } while (after !== undefined);
    return count;
  }
}

/** Roles of secrets are segments of the path that issues them: `creds/<role>`, `library/<set>/check-out`. */
function covers(scope: QuotaScope, mount: Mount | undefined, subject: QuotaSubject): boolean {
  if (scope.role === '' || mount?.class === 'auth') return inScope(scope, subject);
  return scope.mount === subject.mount && subject.rest.toLowerCase().split('/').slice(1).includes(scope.role);
}
