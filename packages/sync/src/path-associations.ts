import { BadRequest, f, NotFound, pageFields, path, slicePage, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { associationData, AssociationData, unsynced } from './association-data.ts';
import type { Associations } from './associations.ts';
import { typeField, type DestinationTypes } from './destination-types.ts';
import { pages, placeOf, recordsIn, type AssociationRecord, type DestinationRecord } from './records.ts';
import type { SyncRun } from './sync-run.ts';

const Answer = Type.Object({
  associated_secrets: Type.Record(Type.String(), AssociationData),
  store_name: Type.String(),
  store_type: Type.String(),
});
const Destinations = Type.Object({
  associated_destinations: Type.Record(
    Type.String(),
    Type.Object({
      type: Type.String(),
      name: Type.String(),
      sub_key: Type.Optional(Type.String()),
      sync_status: Type.String(),
      updated_at: Type.String(),
    }),
  ),
});

const body = {
  mount: f.string('Path of the mount that holds the secret.'),
  wait: f.duration(
    'How long to wait for the provider, and for a run that is under way, before the answer; the schedule continues in the background.',
    {
      default: 5,
    },
  ),
};

/** `destinations/<type>/<name>/associations…` and `associations…`: links between secrets and destinations. */
export function associationPaths(host: EngineHost, types: DestinationTypes, associations: Associations, run: SyncRun): AnyPath[] {
  const records = recordsIn(host.storage);
  const place = { type: typeField(types), destination: f.name('Name of the destination.') };
  const requireDestination = async (data: { readonly type: string; readonly destination: string }): Promise<DestinationRecord> => {
    const found = await records.destinations.get(placeOf({ type: data.type, name: data.destination }));
    if (!found) types.of(data.type);
    if (!found) throw new NotFound(`there is no destination ${data.type}/${data.destination}`);
    return found;
  };
  const shown = (association: AssociationRecord) => associationData(association, associations.mountPath(association));
  const answer = (destination: DestinationRecord, entries: readonly [string, AssociationData][]) => ({
    data: {
      associated_secrets: Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1))),
      store_name: destination.name,
      store_type: destination.type,
    },
  });

  return [
    path('destinations/{type}/{destination}/associations', {
      synopsis: 'The secrets that are linked with a destination.',
      description: 'With how each of them stands.',
      fields: place,
    }).read({
      summary: 'Lists the associations of a destination with their sync status.',
      response: Answer,
      handle: async ({ data }) => {
        const destination = await requireDestination(data);
        const entries: [string, AssociationData][] = [];
        for await (const page of pages(records.associations, `${destination.id}/`)) {
          for (const [, association] of page) entries.push(...shown(association));
        }
        return answer(destination, entries);
      },
    }),
    path('destinations/{type}/{destination}/associations/set', {
      synopsis: 'Links a secret with a destination.',
      description:
        'Of a secret that is linked already: looks outside, and writes what differs. The caller must be able to read the secret.',
      fields: { ...place, ...body, secret_name: f.string('Path of the secret in its mount.') },
    }).update({
      summary: 'Links a secret and syncs it, or syncs it anew.',
      response: Answer,
      handle: async (req) => {
        const destination = await requireDestination(req.data);
        const { id, change } = await associations.set(req, destination, types.installed(destination.type), req.data);
        await run.soon(id, change, req.data.wait * 1_000);
        const association = await records.associations.get(id);
        return answer(destination, association ? shown(association) : []);
      },
    }),
    path('destinations/{type}/{destination}/associations/remove', {
      synopsis: 'Unlinks a secret from a destination.',
      description: 'What we wrote outside is removed. Succeeds also where there is no such association, or nothing outside.',
      fields: { ...place, ...body, secret_name: f.string('Path of the secret in its mount.', { aliases: ['name'] }) },
    }).update({
      summary: 'Unlinks a secret and removes it outside.',
      response: Answer,
      handle: async (req) => {
        const destination = await requireDestination(req.data);
        const { change, found } = await associations.remove(destination, req.data);
        if (change) await run.soon(change.id, change.change, req.data.wait * 1_000);
        const left = change && (await records.associations.get(change.id));
        if (left) return answer(destination, shown(left));
        return answer(destination, found ? [unsynced(found.accessor, found.path, found.secret, host.clock.now())] : []);
      },
    }),
    path('associations', { synopsis: 'All associations.', description: 'By secret.', fields: pageFields }).list({
      summary: 'Lists all secrets that are linked with a destination.',
      response: Type.Object({
        key_info: Type.Record(Type.String(), Type.Array(Type.Object({ mount: Type.String(), secret_path: Type.String() }))),
        keys: Type.Array(Type.String()),
        total_associations: Type.Integer(),
        total_secrets: Type.Integer(),
      }),
      handle: async ({ data }) => {
        const byKey = new Map<string, { mount: string; secret_path: string }[]>();
        let total_associations = 0;
        for await (const page of pages(records.associations)) {
          for (const [, association] of page) {
            const mount = associations.mountPath(association);
            total_associations += 1;
            byKey.set(`${mount}${association.secret_name}`, [{ mount, secret_path: association.secret_name }]);
          }
        }
        if (total_associations === 0) return undefined;
        const keys = slicePage([...byKey.keys()].sort(), data, (key) => key);
        if (keys.length === 0) return undefined;
        return {
          data: {
            key_info: Object.fromEntries(keys.map((key) => [key, byKey.get(key)!])),
            keys,
            total_associations,
            total_secrets: byKey.size,
          },
        };
      },
    }),
    path('associations/destinations', {
      synopsis: 'Where a secret is synced to.',
      description: 'The form for mounts and secrets whose paths have slashes.',
      fields: { mount: f.string('Path of the mount.'), secret_name: f.string('Path of the secret in its mount.') },
    }).read({
      summary: 'Lists the destinations of a secret.',
      response: Destinations,
      handle: async ({ data }) => {
        if (!data.mount || !data.secret_name) throw new BadRequest('mount and secret_name are both needed');
        return destinationsOf(data.mount, data.secret_name);
      },
    }),
    path('associations/{mount:any}/{secret_name:all}', {
      synopsis: 'Where a secret is synced to.',
      description: 'For mounts whose path has no slash.',
      fields: { mount: f.name('Path of the mount.'), secret_name: f.name('Path of the secret in its mount.') },
    }).read({
      summary: 'Lists the destinations of a secret.',
      response: Destinations,
      handle: async ({ data }) => destinationsOf(data.mount, data.secret_name),
    }),
  ];

  interface DestinationEntry {
    type: string;
    name: string;
    sub_key?: string;
    sync_status: string;
    updated_at: string;
  }

  async function destinationsOf(mount: string, secret_name: string) {
    const found = await associations.ofSecret({ mount, secret_name });
    if (found.length === 0) return undefined;
    const entries = found.flatMap((association) => {
      const [type = '', name = ''] = association.place.split('/');
      return shown(association).map(([, { sub_key, sync_status, updated_at }]) => [
        sub_key === undefined ? association.place : `${association.place}/${sub_key}`,
        { type, name, ...(sub_key === undefined ? {} : { sub_key }), sync_status, updated_at },
      ]);
    });
    return { data: { associated_destinations: Object.fromEntries(entries) as Record<string, DestinationEntry> } };
  }
}
