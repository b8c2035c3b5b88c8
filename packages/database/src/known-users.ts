import { BadRequest, type EngineHost } from '@strongroom/engine-sdk';
import { recordsIn, userKey } from './records.ts';
import { usersOf } from './static-pair.ts';

/**
 * Every mount of this process that may have made a user. Two mounts can lead to the same database and name their users alike, so that what one of
 * them does not know may well be another's.
 */
const mounts = new Set<KnownUsers>();

/** The users that a mount keeps. */
export class KnownUsers {
  readonly #host: EngineHost;

  constructor(host: EngineHost) {
    this.#host = host;
    mounts.add(this);
  }

  /** The mount is closed. */
  forget(): void {
    mounts.delete(this);
  }

  /** Those of these names that no mount keeps. @throws BadRequest where a mount cannot be asked */
  static async strangersAmong(usernames: readonly string[]): Promise<string[]> {
    let strangers = [...usernames];
    for (const mount of mounts) strangers = await mount.#strangersAmong(strangers);
    return strangers;
  }

  async #strangersAmong(usernames: readonly string[]): Promise<string[]> {
    const { connections, retired, staticRoles, users } = recordsIn(this.#host.storage);
    try {
      const records = [
        ...(await connections.entries()).map(([, record]) => record),
        ...(await retired.entries()).map(([, { record }]) => record),
      ];
      const fixed = new Set<string>();
      for (const { details } of records) fixed.add(folded(String(details['username'] ?? '')));
      for (const [, role] of await staticRoles.entries()) for (const username of usersOf(role)) fixed.add(folded(username));
      const strangers: string[] = [];
      for (const username of usernames) {
        if (fixed.has(folded(username))) continue;
        const found = await Promise.all(records.map(async ({ id }) => users.get(userKey(id, username))));
        // A user whose lease was dropped by force is nobody's any more.
        if (found.every((user) => user === undefined || user.dropped === true)) strangers.push(username);
      }
      return strangers;
    } catch (error) {
      // What a mount knows cannot be seen: then nobody is a stranger.
      throw new BadRequest(`the users of the mount ${this.#host.mount.path} cannot be read: ${(error as Error).message}`);
    }
  }
}

/** Some databases do not tell capitals from small letters in names. */
function folded(name: string): string {
  return name.toLowerCase();
}
