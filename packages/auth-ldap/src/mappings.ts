import { BadRequest, type Collection, type StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

export const GroupMapping = Type.Object({ policies: Type.Array(Type.String()) });
export type GroupMapping = Static<typeof GroupMapping>;

export const UserMapping = Type.Object({ policies: Type.Array(Type.String()), groups: Type.Array(Type.String()) });
export type UserMapping = Static<typeof UserMapping>;

export interface Mapped {
  readonly policies: readonly string[];
  /** Groups that the mapping itself gives the user. */
  readonly localGroups: readonly string[];
}

/** Longer names cannot be stored, so nothing is mapped to them. */
const LONGEST = 900;

/** Which policies the users and groups of the mount have. */
export class Mappings {
  readonly groups: Collection<GroupMapping>;
  readonly users: Collection<UserMapping>;

  constructor(storage: StorageView) {
    this.groups = storage.collection('group/', GroupMapping);
    this.users = storage.collection('user/', UserMapping);
  }

  /** What a user has, who is in these groups of the directory. Names are compared by the mount's rule about case. */
  async of(username: string, directoryGroups: readonly string[], caseSensitive: boolean): Promise<Mapped> {
    const user = storable(username) ? await this.users.get(username) : undefined;
    const names = new Set([...directoryGroups, ...(user?.groups ?? [])].map((name) => mappingName(name, caseSensitive)));
    const groups = await Promise.all([...names].filter(storable).map(async (name) => this.groups.get(name)));
    return {
      policies: [...new Set([...(user?.policies ?? []), ...groups.flatMap((group) => group?.policies ?? [])])],
      localGroups: user?.groups ?? [],
    };
  }
}

export function mappingName(name: string, caseSensitive: boolean): string {
  return caseSensitive ? name : name.toLowerCase();
}

/** @throws BadRequest for a name that no record can have. */
export function requireStorable(name: string, what: 'group' | 'user'): void {
  if (!storable(name)) throw new BadRequest(`the name of the ${what} is empty, has a NUL in it or is longer than ${LONGEST} bytes`);
}

function storable(name: string): boolean {
  return name !== '' && !name.includes('\0') && Buffer.byteLength(name) <= LONGEST;
}

/** Lower-cased, sorted, each once. */
export function policyNames(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.toLowerCase()))].sort();
}
