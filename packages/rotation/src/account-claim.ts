import { BadRequest, type ManagedAccount, type StorageView, type Transaction } from '@strongroom/engine-sdk';

/** A stored account, and how operators call it. */
export interface CalledAccount {
  readonly account: ManagedAccount;
  readonly called: string;
}

/** How the records of a rotation stand in the registry of managed accounts. */
export interface AccountClaims<R> {
  /** What manages the account, in the words of refusals: `static role "reports"`. The same for the life of the record. */
  by(id: string): string;
  /** How operators call the account: a user name, a distinguished name. */
  called(record: R): string;
  /** The stored accounts that the record manages beside its `managed_account`; they do not change while it is there. Absent: none. */
  beside?(record: R): readonly CalledAccount[];
  /**
   * Finds the account of a record that has none yet, such as one of an older release; it may ask outside. Undefined where it is not known, and
   * then nothing is claimed. A throw is a failed rotation.
   */
  identify?(id: string, record: R, signal: AbortSignal): Promise<ManagedAccount | undefined>;
}

/** Who manages the account in place of this `by`, in words: `static role "b" of team/`; undefined where nobody does. */
export async function otherManager(
  storage: Pick<StorageView, 'managerOf'>,
  account: ManagedAccount | undefined,
  by: string,
): Promise<string | undefined> {
  const manager = account && (await storage.managerOf(account));
  if (!manager || (manager.own && manager.by === by)) return undefined;
  return `${manager.by} of ${manager.own ? 'this mount' : manager.mount}`;
}

/** One account to claim. */
export interface Claiming {
  readonly account: ManagedAccount;
  readonly by: string;
  /** How operators call it. */
  readonly called: string;
  /** Take it over from whoever manages it now. */
  readonly adopt?: boolean | undefined;
}

/** Makes `by` the manager of the account, inside the transaction that stores it. @throws BadRequest that names the present one */
export async function claimAccount(tx: Transaction, { account, by, called, adopt = false }: Claiming): Promise<void> {
  const other = await otherManager(tx, account, by);
  if (other !== undefined && !adopt) throw new BadRequest(managedAlready(called, other));
  await tx.manage(account, by, { adopt });
}

/** The refusal of an account that is managed already. */
export function managedAlready(called: string, other: string): string {
  return `"${called}" is already managed by the secrets engine: ${other} changes its password; remove it there first, or send adopt=true to take the account over`;
}

/** What a manager reads whose account was taken over. */
export function takenOver(called: string, other: string): string {
  return `"${called}" is managed by ${other} now, and is not rotated here any more; delete this one, or send adopt=true to take the account back`;
}
