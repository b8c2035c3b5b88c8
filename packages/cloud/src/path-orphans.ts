import {
  type AnyPath,
  BadRequest,
  type EngineHost,
  f,
  NoContent,
  NotFound,
  orphanCopiesWarning,
  pageFields,
  path,
  slicePage,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { during } from './cloud-error.ts';
import type { TaggedUser } from './cloud-provider.ts';
import { CREATION_TAG, MOUNT_TAG, type DynamicUsers } from './dynamic-users.ts';
import { recordsIn, type UserRecord } from './records.ts';
import type { Root } from './root.ts';

/** After the end of a lease its user is removed by itself; this much later no process works on it any more. Milliseconds. */
const OVERDUE = 3_600_000;

const COPIES = orphanCopiesWarning('users');

type Reason = 'unknown' | 'lease over';

export function orphanPaths(host: EngineHost, root: Root, dynamic: DynamicUsers): readonly AnyPath[] {
  const { users } = recordsIn(host.storage);

  async function tagged(signal: AbortSignal): Promise<TaggedUser[]> {
    const { session } = await root.require();
    return during('Error listing IAM users', session.taggedUsers(MOUNT_TAG, host.mount.uuid, signal));
  }

  /** Why nobody will remove this user; undefined where somebody will. */
  function reasonFor(user: TaggedUser, record: UserRecord | undefined): Reason | undefined {
    if (!record || record.creation !== user.tags[CREATION_TAG]) return 'unknown';
    if (record.dropped) return 'lease over';
    return host.clock.millis() > record.until + OVERDUE ? 'lease over' : undefined;
  }

  const list = path('orphans', {
    synopsis: 'Users that this mount made and that no lease will remove.',
    access: 'sudo',
    description:
      'Found by the tag that the mount gives to its users. unknown: the mount has no record of it. lease over: its lease ended more than an hour ago ' +
      'and the user is still there, as after a lease was dropped by force. Every user of the account is looked at, which may take a while.',
    fields: pageFields,
  }).list({
    summary: 'Lists orphans.',
    response: Type.Object({
      keys: Type.Array(Type.String()),
      key_info: Type.Record(
        Type.String(),
        Type.Object({ reason: Type.Union([Type.Literal('unknown'), Type.Literal('lease over')]), created: Type.String() }),
      ),
    }),
    handle: async (req) => {
      const info = new Map<string, { reason: Reason; created: string }>();
      for (const user of await tagged(req.signal)) {
        const reason = reasonFor(user, await users.get(user.name));
        if (reason) info.set(user.name, { reason, created: user.created.toISOString() });
      }
      const keys = slicePage([...info.keys()].sort(), req.data, (name) => name);
      if (keys.length === 0) return undefined;
      return { data: { keys, key_info: Object.fromEntries(keys.map((name) => [name, info.get(name)!])) }, warnings: [COPIES] };
    },
  });

  const remove = path('orphans/{name:any}', {
    synopsis: 'Removes an orphan.',
    access: 'sudo',
    description:
      'The user is removed with all that hangs on it. One that a lease will remove, or that this mount did not make, is refused.',
    fields: { name: f.name('Name of the user.') },
  }).delete({
    summary: 'Removes the user.',
    response: NoContent,
    handle: async (req) => {
      const { name } = req.data;
      const user = (await tagged(req.signal)).find((one) => one.name === name);
      if (!user) throw new NotFound(`no user ${JSON.stringify(name)} has the tag of this mount`);
      const record = await users.get(name);
      if (!reasonFor(user, record)) throw new BadRequest(`the user ${JSON.stringify(name)} is no orphan: its lease removes it`);
      const creation = user.tags[CREATION_TAG] ?? '';
      await dynamic.remove({ username: name, creation, begun: 0, user_id: user.id }, req.signal);
      return undefined;
    },
  });

  return [list, remove];
}
