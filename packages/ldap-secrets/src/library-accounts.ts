import { createHash, randomUUID } from 'node:crypto';
import {
  BadRequest,
  type Caller,
  type EngineHost,
  type Intent,
  type OpenIntent,
  type StorageView,
  type Transaction,
} from '@strongroom/engine-sdk';
import { manualPlan, ownState, Rotation } from '@strongroom/rotation';
import { Type } from 'typebox';
import { changePassword, identify, provePassword } from './account-entry.ts';
import { DirectoryFailed, makePassword, outcomeOf, textOf, type PasswordPlace } from '@strongroom/ldap-client';
import { managerName } from './managed-accounts.ts';
import { accountKey, recordsIn, SALT, type LibraryAccountRecord, type LibrarySetRecord, type Loan } from './records.ts';
import type { DirectoryService } from './service.ts';
import type { Turn } from './waiting-queue.ts';

/** Longer than a request with all its deadlines: seconds. */
const INTENT_AGE = 180;

const CheckOut = Type.Object({ account: Type.String(), loan: Type.String() });

/** An account that was just lent. */
export interface Lent {
  readonly key: string;
  readonly account: LibraryAccountRecord;
  readonly loan: Loan;
  readonly intent: OpenIntent;
}

/** Whether a loan was ended, and why the password is not changed yet. */
export interface TakenBack {
  readonly ended: boolean;
  readonly failure?: unknown;
}

/** To whom an account is lent, until when, and whether it is the borrower's turn. */
export interface LoanOrder extends Pick<Loan, 'entity' | 'token' | 'displayName' | 'until' | 'unlimited'> {
  readonly turn: Turn;
}

/** Who borrows: by entity, and by a salted digest of the token. The display name is for people. */
export type Borrower = Pick<Loan, 'entity' | 'token' | 'displayName'>;

/** The accounts of the library: who has them, and the rotation of their passwords when they come back. */
export class LibraryAccounts {
  readonly rotation: Rotation<LibraryAccountRecord, string, PasswordPlace>;
  readonly intent: Intent<typeof CheckOut>;
  readonly #host: EngineHost;
  /** Accounts that a check-out of this process is about to lend. */
  readonly #reserved = new Set<string>();
  /** An account may have become free. */
  onFree: () => void = () => undefined;
  #salt: string | undefined;

  constructor(host: EngineHost, service: DirectoryService) {
    this.#host = host;
    const target = (): string => service.target;
    this.rotation = new Rotation(host, {
      kind: 'rotate-library-account',
      noun: 'account of the library',
      about: (_key, { name, set }) => ({ noun: 'library account', name, path: `library/${set}/status` }),
      reported: (_key, { name, set }) => ({ name, paths: [`library/${set}`] }),
      lens: ownState<LibraryAccountRecord, string>(),
      records: (storage) => recordsIn(storage).accounts,
      plan: () => manualPlan,
      target,
      make: async () => makePassword(host, await service.require()),
      apply: async ({ record, candidate, signal }) => changePassword(service, { username: record.name }, candidate, signal),
      outcomeOf,
      messageOf: textOf,
      prove: async ({ record, candidate, signal }, found) =>
        provePassword(service, { username: record.name }, { candidate, current: record.current }, signal, found),
      unproven: (_key, _account, text) => new DirectoryFailed(text, 'unknown'),
      claims: {
        by: libraryManager,
        called: ({ name }) => name,
        identify: async (_key, { name }, signal) => identify(service, { username: name }, signal),
      },
      missing: (key) => new BadRequest(`"${key}" is not in the library`),
    });
    this.intent = {
      kind: 'check-out',
      entry: CheckOut,
      minAgeSeconds: INTENT_AGE,
      target,
      rollback: async ({ account, loan }) => {
        await host.storage.transaction(async (tx) => this.endLoan(tx, account, loan));
      },
      // The account was there before; the mount itself lists it.
      outside: () => undefined,
    };
  }

  /**
   * Lends the first account of the set that is free; undefined where none is, or where it is not the borrower's turn. The lease settles the intent, or else
   * the journal takes it back.
   */
  async lend(set: LibrarySetRecord, { turn, ...terms }: LoanOrder): Promise<Lent | undefined> {
    const { accounts } = recordsIn(this.#host.storage);
    for (const key of set.service_account_names.map(accountKey)) {
      if (this.#reserved.has(key)) continue;
      this.#reserved.add(key);
      try {
        const seen = await accounts.get(key);
        if (!seen || !isFree(seen)) continue;
        const loan: Loan = { id: randomUUID(), since: this.#host.clock.millis(), ...terms };
        const lent = await this.#host.storage.transaction(async (tx) => this.#lendIn(tx, key, loan, turn));
        if (lent) return lent;
      } finally {
        this.#reserved.delete(key);
      }
    }
    return undefined;
  }

  /** Ends a loan, if it is still that one: the account is lent again when its password was changed. Resolves with whether it was. */
  async endLoan(tx: Transaction, key: string, loan: string): Promise<boolean> {
    const account = await recordsIn(tx).accounts.get(key);
    const ended = account && withoutLoan(account, loan);
    if (ended === undefined) return false;
    await this.rotation.demand(tx, key, ended);
    return true;
  }

  /**
   * Ends a loan, if it is still that one, and changes the password: in one commit the loan ends and the rotation begins, where it can. Resolves with whether
   * it was, and with why the password is not changed yet, which is retried.
   */
  async takeBack(key: string, loan: string, signal: AbortSignal): Promise<TakenBack> {
    const { storage } = this.#host;
    let ended = false;
    let failure: unknown;
    const claiming = async (_tx: Transaction, account: LibraryAccountRecord): Promise<LibraryAccountRecord> => {
      const rest = withoutLoan(account, loan);
      ended = rest !== undefined;
      if (rest === undefined) throw new BadRequest(`"${account.name}" has come back already`);
      // Its borrower knows the password, whatever the rotation comes to.
      return { ...rest, demanded: this.#host.clock.millis() };
    };
    try {
      const account = await recordsIn(storage).accounts.get(key);
      if (account?.loan?.id === loan && (await this.#isOurs(key, account))) await this.rotation.rotate(key, signal, claiming);
    } catch (error) {
      failure = error;
    }
    if (!ended || failure !== undefined) ended = (await storage.transaction(async (tx) => this.endLoan(tx, key, loan))) || ended;
    if (ended && failure !== undefined) return { ended, failure };
    try {
      await this.renew(key, signal);
    } catch (error) {
      return { ended, failure: error };
    }
    return { ended };
  }

  /**
   * Changes the password of an account that came back, unless that is done, or another manager has taken the account over. @throws what the directory
   * refuses; it is retried.
   */
  async renew(key: string, signal: AbortSignal): Promise<void> {
    const account = await recordsIn(this.#host.storage).accounts.get(key);
    if (!account || account.loan !== undefined) return;
    if (!isRotated(account)) {
      if (!(await this.#isOurs(key, account))) return;
      await this.rotation.rotate(key, signal);
    }
    this.onFree();
  }

  /** The caller as a borrower. The digest of the token only distinguishes borrowers; nothing can be done with it. */
  async borrowerOf({ entityId, tokenDigest, displayName }: Caller): Promise<Borrower> {
    this.#salt ??= await this.#storedSalt(this.#host.storage);
    return { entity: entityId, token: createHash('sha1').update(`${this.#salt}${tokenDigest}`).digest('hex'), displayName };
  }

  /** Notes that the lease of a loan was renewed. */
  async prolong(key: string, loan: string, until: number): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const { accounts } = recordsIn(tx);
      const account = await accounts.get(key);
      if (account?.loan?.id === loan && account.loan.until !== undefined)
        await accounts.put(key, { ...account, loan: { ...account.loan, until } });
    });
  }

  async #isOurs(key: string, account: LibraryAccountRecord): Promise<boolean> {
    return (await this.rotation.managedBy(this.#host.storage, key, account)) === undefined;
  }

  async #lendIn(tx: Transaction, key: string, loan: Loan, turn: Turn): Promise<Lent | undefined> {
    const { accounts } = recordsIn(tx);
    const account = await accounts.get(key);
    if (!account || !isFree(account) || (await this.rotation.managedBy(tx, key, account)) !== undefined) return undefined;
    if (!(await turn(tx))) return undefined;
    await accounts.put(key, { ...account, loan });
    return { key, account, loan, intent: await tx.intend(this.intent, { account: key, loan: loan.id }) };
  }

  async #storedSalt(storage: StorageView): Promise<string> {
    return storage.transaction(async (tx) => {
      const { salt } = recordsIn(tx);
      const known = await salt.get(SALT);
      if (known) return known.salt;
      const fresh = Buffer.from(this.#host.randomBytes(32)).toString('base64');
      await salt.put(SALT, { salt: fresh });
      return fresh;
    });
  }
}

/** An account of the library as a manager. */
export function libraryManager(key: string): string {
  return managerName({ kind: 'library', owner: key });
}

/** The account without that loan; undefined where it has another, or none. */
function withoutLoan({ loan, ...rest }: LibraryAccountRecord, ended: string): LibraryAccountRecord | undefined {
  return loan?.id === ended ? rest : undefined;
}

/** Nobody has it, and nobody but this server knows its password. */
export function isFree(account: LibraryAccountRecord): boolean {
  return account.loan === undefined && isRotated(account);
}

/** Whether it is the same borrower: the same entity, or the same token where there is none. */
export function sameBorrower(a: Borrower, b: Borrower): boolean {
  return a.entity === '' ? a.token === b.token : a.entity === b.entity;
}

function isRotated({ current, pending, demanded }: LibraryAccountRecord): boolean {
  return current !== undefined && pending === undefined && demanded === undefined;
}
