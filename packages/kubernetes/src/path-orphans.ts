import {
  BadRequest,
  f,
  NoContent,
  NotFound,
  pageFields,
  path,
  slicePage,
  Timestamp,
  type AnyPath,
  type EngineHost,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Cluster } from './cluster.ts';
import { listObjects, type FoundObject } from './cluster-objects.ts';
import { KINDS, MOUNT_LABEL, titleOf } from './manifests.ts';
import { recordsIn, type CreationRecord, type ObjectRef } from './records.ts';
import type { ServiceAccounts } from './service-accounts.ts';

/** After the end of a lease its objects are removed by themselves; this much later no process works on them any more. Milliseconds. */
const OVERDUE = 3_600_000;

type Reason = 'unknown' | 'lease over';

export function orphanPaths(host: EngineHost, cluster: Cluster, accounts: ServiceAccounts): readonly AnyPath[] {
  const { creations } = recordsIn(host.storage);

  /** What carries the label of this mount, by creation. */
  async function labelled(signal: AbortSignal): Promise<Map<string, FoundObject[]>> {
    return cluster.use(async (access) => {
      const found = new Map<string, FoundObject[]>();
      for (const kind of Object.keys(KINDS) as ObjectRef['kind'][]) {
        for (const object of await listObjects(access, kind, [MOUNT_LABEL, host.mount.uuid], signal)) {
          found.set(object.creation, [...(found.get(object.creation) ?? []), object]);
        }
      }
      return found;
    });
  }

  /** Why nobody will remove these; undefined where somebody will. */
  function reasonFor(record: CreationRecord | undefined): Reason | undefined {
    if (!record) return 'unknown';
    return record.dropped || host.clock.millis() > record.until + OVERDUE ? 'lease over' : undefined;
  }

  const list = path('orphans', {
    synopsis: 'Objects that this mount made and that no lease will remove.',
    description:
      'Found by the label strongroom.io/mount, in all namespaces. unknown: the mount has no record of them. lease over: their lease ended more than an hour ago ' +
      'and they are still there, as after a lease was dropped by force.',
    fields: pageFields,
  }).list({
    summary: 'Lists orphans.',
    response: Type.Object({
      keys: Type.Array(Type.String({ description: 'The value of the label strongroom.io/creation.' })),
      key_info: Type.Record(
        Type.String(),
        Type.Object({
          reason: Type.Union([Type.Literal('unknown'), Type.Literal('lease over')]),
          created: Timestamp,
          objects: Type.Array(Type.String()),
        }),
      ),
    }),
    handle: async (req) => {
      const info = new Map<string, { reason: Reason; created: string; objects: string[] }>();
      for (const [creation, objects] of await labelled(req.signal)) {
        const reason = reasonFor(await creations.get(creation));
        if (reason) info.set(creation, { reason, created: objects[0]!.created, objects: objects.map(({ ref }) => titleOf(ref)) });
      }
      const keys = slicePage([...info.keys()].sort(), req.data, (name) => name);
      return keys.length === 0 ? undefined : { data: { keys, key_info: Object.fromEntries(keys.map((key) => [key, info.get(key)!])) } };
    },
  });

  const remove = path('orphans/{name}', {
    synopsis: 'Removes an orphan.',
    description: 'Removes all objects of one creation. Those that a lease will remove, or that this mount did not make, are refused.',
    fields: { name: f.name('The value of the label strongroom.io/creation.') },
  }).delete({
    summary: 'Removes the objects.',
    response: NoContent,
    handle: async (req) => {
      const { name } = req.data;
      const objects = (await labelled(req.signal)).get(name);
      if (!objects) throw new NotFound(`no object has the label of this mount and strongroom.io/creation=${name}`);
      if (!reasonFor(await creations.get(name))) throw new BadRequest(`the objects of ${name} are no orphans: their lease removes them`);
      await accounts.remove({ creation: name, objects: objects.map(({ ref }) => ref) }, req.signal);
      await creations.delete(name);
      return undefined;
    },
  });
  return [list, remove];
}
