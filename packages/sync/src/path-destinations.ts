import {
  type AnyPath,
  type EngineHost,
  type EngineRequest,
  f,
  NoContent,
  NotFound,
  orNoContent,
  pageFields,
  path,
  slicePage,
} from '@strongroom/engine-sdk';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { Type } from 'typebox';
import { DestinationReport, tryDestination } from './destination-test.ts';
import { typeField, type DestinationTypes } from './destination-types.ts';
import type { Destinations, LeftOutside } from './destinations.ts';
import type { Reconciliation } from './reconciliation.ts';
import type { Sessions } from './sessions.ts';
import { CONFLICT_POLICIES, placeOf, recordsIn, type DestinationRecord } from './records.ts';
import { partial } from './written-fields.ts';

/** Of every destination, besides those of its plugin. */
const hostFields = {
  name: f.name('Name of the destination.'),
  secret_name_template: f.string('Template of the names that secrets get outside. Empty: as the type has it by default.'),
  granularity: f.string('secret-path: one remote secret per secret; secret-key: one per key of it.', {
    values: ['secret-path', 'secret-key'],
    aliases: ['granularity_level'],
  }),
  on_conflict: f.string(
    'What happens when a name is taken by a secret that is not ours. fail: nothing is written. adopt: it becomes ours, unless another ' +
      'destination has marked it. overwrite: it becomes ours.',
    { values: CONFLICT_POLICIES },
  ),
  reconcile_interval: f.duration(
    'How often the destination is compared with what it should hold, and repaired; 0 for never. 24 hours by default.',
  ),
  allowed_ipv4_addresses: f.commaStrings('IPv4 addresses and CIDR blocks allowed in addition to public ones.'),
  allowed_ipv6_addresses: f.commaStrings('IPv6 addresses and CIDR blocks allowed in addition to public ones.'),
  allowed_ports: f.commaInts('Ports allowed in addition to 80 and 443.'),
  disable_strict_networking: f.bool('Lifts every restriction of addresses and ports.'),
};
const tagFields = { custom_tags: f.keyValues('Tags that every secret gets outside.') };
const deleteFields = {
  purge: f.bool('On delete: unsync everything first.', { default: false }),
  force_delete: f.bool('On delete: forget everything at once; the copies outside stay there.', { default: false }),
};

const Shown = Type.Object({
  name: Type.String(),
  type: Type.String(),
  connection_details: Type.Record(Type.String(), Type.Unknown()),
  options: Type.Record(Type.String(), Type.Unknown()),
  purge_initiated_at: Type.Optional(Type.String()),
  purge_error: Type.Optional(Type.String()),
});

const Outside = Type.Object({
  outside: Type.Array(Type.Unknown(), { description: 'Copies that stay outside.' }),
  total: Type.Integer(),
});
const Left = orNoContent(Type.Union([Shown, Outside]));

/** The answer of whoever lets go of a destination; nothing, where nothing is left outside. */
function leftOutside({ things, total }: LeftOutside) {
  if (total === 0) return undefined;
  const warning = `copies that this destination left outside, and that this server no longer tracks: ${total}`;
  return { data: { outside: things, total } as never, warnings: [warning] };
}

/** `destinations`, `destinations/<type>` and `destinations/<type>/<name>`. Other variants of a type fold into its name. */
export function destinationPaths(
  host: EngineHost,
  types: DestinationTypes,
  destinations: Destinations,
  reconciliation: Reconciliation,
  sessions: Sessions,
): AnyPath[] {
  const records = recordsIn(host.storage);
  return [
    path('destinations', { synopsis: 'The destinations.', description: 'By type.', fields: pageFields }).list({
      summary: 'Lists all destinations by type.',
      response: Type.Object({
        key_info: Type.Record(Type.String(), Type.Array(Type.String())),
        keys: Type.Array(Type.String()),
        total_destinations: Type.Integer(),
      }),
      handle: async ({ data }) => {
        const places = await records.destinations.list();
        if (places.length === 0) return undefined;
        const byType: Record<string, string[]> = {};
        for (const place of places) {
          const slash = place.indexOf('/');
          (byType[place.slice(0, slash + 1)] ??= []).push(place.slice(slash + 1));
        }
        const keys = slicePage(Object.keys(byType).sort(), data, (type) => type);
        if (keys.length === 0) return undefined;
        const key_info = Object.fromEntries(keys.map((type) => [type, byType[type]!]));
        return { data: { key_info, keys, total_destinations: places.length } };
      },
    }),
    path('destinations/{type}', {
      synopsis: 'The destinations of a type.',
      description: 'By name.',
      fields: { type: typeField(types), ...pageFields },
    }).list({
      summary: 'Lists the destinations of a type.',
      response: Type.Object({ keys: Type.Array(Type.String()), total_destinations: Type.Integer() }),
      handle: async ({ data }) => {
        const { type } = data;
        const all = (await records.destinations.list({ prefix: `${type}/` })).map((place) => place.slice(type.length + 1));
        if (all.length === 0) types.of(type);
        const keys = slicePage(all, data, (name) => name);
        return keys.length === 0 ? undefined : { data: { keys, total_destinations: all.length } };
      },
    }),
    ...types.all.flatMap((plugin) => [onePath(plugin), testPath(plugin)]),
    ...notInstalled(host, types, destinations),
  ];

  /** What a write may send. */
  function writtenFields({ connection, options }: SyncDestinationPlugin) {
    return { ...partial(connection), ...hostFields, ...(options.customTags ? tagFields : {}) } as typeof hostFields & typeof tagFields;
  }

  function testPath(plugin: SyncDestinationPlugin): AnyPath {
    return path(`destinations/${plugin.name}/{name}/test` as '{name}/test', {
      synopsis: `Tests a destination in ${plugin.title}, step by step.`,
      description:
        'Takes what a write to the destination takes, over what is stored, and stores nothing. The steps are settings, reach and login; with write=true also ' +
        'write, read back and remove, of a secret whose name begins with strongroom-test-. Stored secrets are sent to the stored address alone.',
      fields: { ...writtenFields(plugin), write: f.bool('Whether to write a secret, read it back and remove it.', { default: false }) },
    }).update({
      summary: 'Tests a destination.',
      response: DestinationReport,
      handle: async (req) => {
        const { name, write, ...sent } = req.data;
        const given = [...req.supplied].some((field) => field !== 'name' && field !== 'write');
        if (!given && !(await records.destinations.has(placeOf({ type: plugin.name, name })))) throw new NotFound();
        const asked = { sent: sent as never, supplied: req.supplied, sudo: req.caller.sudo };
        const report = await tryDestination(async () => destinations.wouldBe(plugin, name, asked), {
          ...{ sessions, write, clock: host.clock, signal: req.signal },
          randomBytes: (count) => host.randomBytes(count),
        });
        return { data: report };
      },
    });
  }

  function onePath(plugin: SyncDestinationPlugin): AnyPath {
    const place = (name: string): string => placeOf({ type: plugin.name, name });
    const fields = { ...writtenFields(plugin), ...deleteFields };
    const exists = async ({ data }: { readonly data: { readonly name: string } }) => records.destinations.has(place(data.name));
    const write = async (req: EngineRequest<typeof fields>) => {
      const write = { sent: req.data as never, supplied: req.supplied, sudo: req.caller.sudo };
      const written = await destinations.write(plugin, req.data.name, write, async (tx, destination) =>
        reconciliation.plan(tx, destination),
      );
      return { data: destinations.shown(plugin, written) as never };
    };
    return path(`destinations/${plugin.name}/{name}` as '{name}', {
      synopsis: `A destination in ${plugin.title}.`,
      description:
        'A write to an existing destination changes what it sends and keeps the rest; "*****" keeps a secret. Credentials that are left out ' +
        "come from the provider's own chain.",
      fields,
    })
      .read({
        summary: 'Reads a destination, with its secrets masked.',
        response: Shown,
        handle: async ({ data }) => {
          const destination = await records.destinations.get(place(data.name));
          return destination && { data: destinations.shown(plugin, destination) as never };
        },
      })
      .upsert({ summary: 'Creates or changes a destination.', response: Shown, exists, handle: write })
      .patch({
        summary: 'Changes a destination.',
        response: Shown,
        handle: async (req) => {
          if (!(await exists(req))) throw new NotFound();
          return write(req);
        },
      })
      .delete({
        summary: 'Deletes a destination without associations; with purge=true it unsyncs them first.',
        response: Left,
        takes: ['purge', 'force_delete'],
        handle: async ({ data }) => {
          if (data.force_delete) return leftOutside(await destinations.drop(place(data.name)));
          if (!data.purge) await destinations.deleteEmpty(place(data.name));
          else {
            const left = await destinations.purge(place(data.name));
            if (left) return { data: destinations.shown(plugin, left) as never };
          }
          return undefined;
        },
      });
  }
}

/**
 * Types that no plugin serves. Destinations that were stored while one did can be read and let go of; all else is a clear answer instead of an
 * unsupported path.
 */
function notInstalled(host: EngineHost, types: DestinationTypes, destinations: Destinations): AnyPath[] {
  const records = recordsIn(host.storage);
  type Asked = { readonly data: { readonly type: string; readonly name: string } };
  const stored = async ({ data }: Asked): Promise<DestinationRecord> => {
    const destination = await records.destinations.get(placeOf(data));
    if (!destination) types.of(data.type);
    if (!destination) throw new NotFound();
    return destination;
  };
  const refuse = async (req: Asked): Promise<never> => {
    types.installed((await stored(req)).type);
    throw new NotFound();
  };
  const named = { type: typeField(types), name: f.name('Name of the destination.') };
  const stays = path('destinations/{type}/{name}', {
    synopsis: 'A destination.',
    description: 'Of a type that is not installed.',
    fields: { ...named, ...deleteFields },
  })
    .read({
      summary: 'Reads what is stored of a destination, without its connection.',
      response: Shown,
      handle: async (req) => ({ data: destinations.shown(undefined, await stored(req)) as never }),
    })
    .update({ summary: 'Refused with the types there are.', response: NoContent, handle: refuse })
    .patch({ summary: 'Refused with the types there are.', response: NoContent, handle: refuse })
    .delete({
      summary: 'With force_delete=true, lets go of a destination; else refused with the types there are.',
      response: Left,
      takes: ['force_delete'],
      handle: async (req) => {
        if (!req.data.force_delete) return refuse(req);
        return leftOutside(await destinations.drop(placeOf(await stored(req))));
      },
    });
  const tested = path('destinations/{type}/{name}/test', {
    synopsis: 'Tests a destination, step by step.',
    description: 'Of a type that is not installed.',
    fields: named,
  }).update({ summary: 'Refused with the types there are.', response: NoContent, handle: refuse });
  return [stays, tested];
}
