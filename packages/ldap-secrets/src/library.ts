import {
  BadRequest,
  InvalidRequest,
  issue,
  type Caller,
  type EngineHost,
  type EngineRequest,
  type SecretType,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { AccountGone, textOf } from '@strongroom/ldap-client';
import { sameBorrower, type Lent, type LibraryAccounts } from './library-accounts.ts';
import type { LibrarySets, SetMember } from './library-sets.ts';
import { accountKey, recordsIn, type LibraryAccountRecord, type LibrarySetRecord, type Records, type Ticket } from './records.ts';
import type { DirectoryService } from './service.ts';
import { ticketsOf } from './stored-queue.ts';
import { WaitingQueue, type Take } from './waiting-queue.ts';

/** A request lives 90 s; a check-out that waits ends before that, with an answer. Seconds. */
const LONGEST_WAIT = 80;

const Internal = Type.Object({ set: Type.String(), account: Type.String(), loan: Type.String(), unlimited: Type.Boolean() });

export interface CheckOutOrder {
  readonly set: string;
  /** Seconds; undefined for the set's own. */
  readonly ttl: number | undefined;
  /** Seconds; 0 for not at all. */
  readonly wait: number;
}

export interface CheckInOrder {
  readonly set: string;
  /** Undefined where the caller has one account of the set. */
  readonly names: readonly string[] | undefined;
  /** Whoever has them. */
  readonly forced: boolean;
}

/** Lends accounts of sets to one borrower at a time, and takes them back. */
export class Library {
  readonly secret: SecretType<typeof Internal>;
  readonly #host: EngineHost;
  readonly #sets: LibrarySets;
  readonly #accounts: LibraryAccounts;
  readonly #records: Records;
  readonly #queues = new Map<string, WaitingQueue<Lent>>();

  constructor(host: EngineHost, service: DirectoryService, sets: LibrarySets, accounts: LibraryAccounts) {
    this.#host = host;
    this.#sets = sets;
    this.#accounts = accounts;
    this.#records = recordsIn(host.storage);
    accounts.onFree = () => this.wake();
    this.secret = {
      type: 'check-out',
      internal: Internal,
      target: () => service.target,
      renew: async ({ internal, endsWith }) => {
        const set = await this.#records.sets.get(internal.set);
        if (!set) throw new BadRequest(`"${internal.set}" doesn't exist`);
        const account = await this.#records.accounts.get(internal.account);
        if (account?.loan?.id !== internal.loan) {
          throw new BadRequest(`${account?.name ?? internal.account} is already checked in, please call check-out to regain it`);
        }
        const terms = this.#terms(set, set.ttl);
        await accounts.prolong(internal.account, internal.loan, endsWith(terms).getTime());
        return terms;
      },
      revoke: async ({ internal, expiresAt, signal }) => {
        const isOver = host.clock.millis() >= expiresAt.getTime();
        // A loan without limit has a lease all the same, and outlives it.
        if (internal.unlimited && isOver) return;
        const { failure } = await accounts.takeBack(internal.account, internal.loan, signal);
        if (failure instanceof AccountGone) {
          // It has no password any more: the lease is over, and its status shows what is missing.
          host.log.warn('an account of the library is no longer in the directory', { account: internal.account });
        } else if (failure !== undefined) throw failure;
        // Clients know that leases cannot be ended early without a configuration, also those whose account has come back.
        if (!isOver) await service.require();
      },
      outside: ({ account, set }) => ({
        kind: 'directory account',
        name: account,
        detail: `lent from the set "${set}": its borrower knows the password`,
      }),
      // Without its lease a loan would have no end.
      dropped: async ({ account, loan }, tx) => void (await accounts.endLoan(tx, account, loan)),
    };
  }

  /** Lends an account, after a wait where that is asked for. @throws BadRequest where none is free. */
  async checkOut(req: EngineRequest, { set: name, ttl: asked, wait }: CheckOutOrder) {
    const set = await this.#sets.require(name);
    const ttl = shorter(asked ?? set.ttl, set.ttl);
    const unlimited = ttl === 0 && set.max_ttl === 0;
    const terms = this.#terms(set, ttl);
    const who = await this.#accounts.borrowerOf(req.caller);
    const take: Take<Lent> = async (turn) => {
      if (req.signal.aborted) return undefined;
      const ends = this.#host.clock.millis() + this.#host.limit(terms).ttl * 1_000;
      const order = { ...who, unlimited, turn, ...(unlimited ? {} : { until: ends }) };
      return this.#accounts.lend(await this.#sets.require(name), order);
    };
    const lent = await this.#queue(name).get(take, { millis: Math.min(wait, LONGEST_WAIT) * 1_000, signal: req.signal, who });
    if (!lent) throw new BadRequest('No service accounts available for check-out.');
    const { account, key, loan, intent } = lent;
    if (req.signal.aborted) await this.#host.storage.transaction(async (tx) => tx.abandon(intent));
    return {
      data: { service_account_name: account.name, password: account.current! },
      secret: issue(this.secret, {
        internal: { set: name, account: key, loan: loan.id, unlimited },
        terms,
        fulfils: intent,
      }),
    };
  }

  /** Takes accounts back, and changes their passwords. @throws BadRequest for those that the caller may not bring back. */
  async checkIn(
    caller: Caller,
    { set: name, names, forced }: CheckInOrder,
    signal: AbortSignal,
  ): Promise<{ names: string[]; failures: string[] }> {
    const set = await this.#sets.require(name);
    const accounts = await this.#sets.accountsOf(set, names && new Set(names.map(accountKey)));
    const free = forced || set.disable_check_in_enforcement;
    const who = await this.#accounts.borrowerOf(caller);
    const mayReturn = ({ loan }: LibraryAccountRecord): boolean => free || sameBorrower(loan!, who);
    const chosen =
      names === undefined
        ? soleOf(accounts.filter(({ account }) => account.loan !== undefined && mayReturn(account)))
        : namedOf(accounts, names);
    const returned = chosen.filter(({ account }) => account.loan !== undefined);
    for (const { account } of returned) {
      if (!mayReturn(account)) {
        throw new BadRequest(`"${account.name}" can't be checked in because it wasn't checked out by the caller`);
      }
    }
    if (returned.length === 0) return { names: [], failures: [] };
    const taken = await Promise.all(
      returned.map(async ({ key, account }) => ({ account, ...(await this.#accounts.takeBack(key, account.loan!.id, signal)) })),
    );
    const ended = taken.filter((one) => one.ended);
    return {
      names: ended.map(({ account }) => account.name),
      failures: ended
        .filter(({ failure }) => failure !== undefined)
        .map(
          ({ account, failure }) =>
            `the password of "${account.name}" is not changed yet, and it is not lent until then; this is retried: ${textOf(failure)}`,
        ),
    };
  }

  /** Who waits for the set, in order. */
  async waiting(set: string): Promise<readonly Ticket[]> {
    return ticketsOf(this.#host.storage, set, this.#host.clock.millis());
  }

  /** Accounts may have become free, or queues have changed, here or in another process. */
  wake(): void {
    for (const queue of this.#queues.values()) queue.wake();
  }

  #queue(name: string): WaitingQueue<Lent> {
    let queue = this.#queues.get(name);
    if (!queue) {
      queue = new WaitingQueue(this.#host, name);
      this.#queues.set(name, queue);
    }
    return queue;
  }

  #terms(set: LibrarySetRecord, ttl: number): { ttl: number; maxTtl: number } {
    return { ttl: ttl || set.max_ttl || this.#host.mount.maxLeaseTtl, maxTtl: set.max_ttl };
  }
}

/** The one account that a call without names means. */
function soleOf<T>(out: readonly T[]): readonly T[] {
  if (out.length > 1) {
    throw new BadRequest("when multiple service accounts are checked out, the 'service_account_names' to check in must be provided");
  }
  return out;
}

function namedOf(accounts: readonly SetMember[], names: readonly string[]): SetMember[] {
  return names.map((name) => {
    const found = accounts.find(({ key }) => key === accountKey(name));
    if (!found) throw new InvalidRequest(`service_account_names: "${name}" not found in the set`);
    return found;
  });
}

/** Of two limits, 0 standing for none. */
function shorter(a: number, b: number): number {
  return a === 0 || b === 0 ? a + b : Math.min(a, b);
}
