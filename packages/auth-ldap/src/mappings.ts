import { foldName, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { MappingRecords } from './mapping-records.ts';

export const GroupMapping = Type.Object({ policies: Type.Array(Type.String()) });
export type GroupMapping = Static<typeof GroupMapping>;

export const UserMapping = Type.Object({ policies: Type.Array(Type.String()), groups: Type.Array(Type.String()) });
export type UserMapping = Static<typeof UserMapping>;

export interface Mapped {
  readonly policies: readonly string[];
  /** Groups that the mapping itself gives the user. */
  readonly localGroups: readonly string[];
}

/** Which policies the users and groups of the mount have. */
export class Mappings {
  readonly groups: MappingRecords<typeof GroupMapping>;
  readonly users: MappingRecords<typeof UserMapping>;
  readonly #log: (message: string, fields: Readonly<Record<string, unknown>>) => void;

  /** `caseSensitive`: the mount's rule as it is now. */
  constructor(
    storage: StorageView,
    caseSensitive: () => boolean,
    log: (message: string, fields: Readonly<Record<string, unknown>>) => void = () => {},
  ) {
    this.groups = new MappingRecords(storage, { kind: 'groups', prefix: 'group/', schema: GroupMapping, rule: groupName }, caseSensitive);
    this.users = new MappingRecords(storage, { kind: 'users', prefix: 'user/', schema: UserMapping, rule: userName }, caseSensitive);
    this.#log = log;
  }

  /** What a user has, who is in these groups of the directory. `username` is folded; names of groups are compared by the mount's rule about case. */
  async of(username: string, directoryGroups: readonly string[], caseSensitive: boolean): Promise<Mapped> {
    const user = await this.users.get(username, caseSensitive);
    const names = new Set([...directoryGroups, ...(user?.groups ?? [])].map((name) => groupName(name, caseSensitive)));
    const groups = await Promise.all([...names].map(async (name) => this.groups.get(name, caseSensitive)));
    return {
      policies: [...new Set([...(user?.policies ?? []), ...groups.flatMap((group) => group?.policies ?? [])])],
      localGroups: user?.groups ?? [],
    };
  }

  /** Before the first request. */
  async initialize(): Promise<void> {
    for (const records of [this.users, this.groups]) await records.settle();
    await this.look();
  }

  async look(): Promise<void> {
    for (const records of [this.users, this.groups]) {
      await records.look();
      const names = records.leftOver();
      if (names.length > 0) this.#log('mappings that no login uses, since their names are compared otherwise now', { names });
    }
  }

  /** Within the transaction that changes the rule about case. @throws BadRequest where two records would have one name. */
  async ruleChanging(tx: Transaction, caseSensitive: boolean): Promise<void> {
    if (caseSensitive) return;
    for (const records of [this.users, this.groups]) await records.foldAll(tx, caseSensitive);
  }

  async invalidated(key: string): Promise<void> {
    await this.users.invalidated(key);
    await this.groups.invalidated(key);
  }
}

/** A user is named by whoever logs in, so all variants are one name. */
export function userName(name: string, caseSensitive: boolean): string {
  return foldName(name, { keepCase: caseSensitive });
}

/** A group is named by the directory alone. */
export function groupName(name: string, caseSensitive: boolean): string {
  return caseSensitive ? name : name.toLowerCase();
}
