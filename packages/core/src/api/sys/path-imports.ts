import { type AnyPath, f, keysOf, ListedKeys, NoContent, pageFields, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { ImportRecords } from '../../services/imports/import-records.ts';

const Source = Type.Object({
  address: Type.String({ description: 'Where the source answered last.' }),
  first_time: Type.String({ description: 'When the first thing came. RFC 3339.' }),
  last_time: Type.String({ description: 'When the last thing came. RFC 3339.' }),
});
const Same = Type.Object({ source: Type.Boolean(), target: Type.Boolean() });

const source = f.name('The id of the source: its cluster id, and a mark of the namespace where one was imported.');
const objects = f.map('By name, such as "policy app": source and target, SHA-256 digests of the content there and here, in hexadecimal.', {
  default: {},
});

/** `sys/import/…`: what imports brought from other servers. */
export function importPaths({ imports }: { readonly imports: ImportRecords }): AnyPath[] {
  return [
    path('import', {
      synopsis: 'Servers that things were imported from.',
      description: 'Lists the ids of the sources.',
      access: 'sudo',
      fields: pageFields,
    }).list({ summary: 'List the sources of imports', response: ListedKeys, handle: async ({ data }) => keysOf(imports.sources, data) }),

    path('import/{source}', {
      synopsis: 'What came from another server.',
      description:
        'Holds names, times and keyed digests, and nothing of the content. An import that runs again finds out with it what changed since, and on which side.',
      access: 'sudo',
      fields: { source, address: f.string('Where the source answers.', { default: '' }), objects, ...pageFields },
    })
      .read({
        summary: 'Read when things came from a source',
        response: Source,
        takes: [],
        handle: async ({ data }) => {
          const found = await imports.sources.get(data.source);
          return found && { data: found };
        },
      })
      .list({
        summary: 'List what came from a source',
        response: ListedKeys,
        takes: ['after', 'limit'],
        handle: async ({ data }) => {
          const keys = await imports.names(data.source, data);
          return keys.length === 0 ? undefined : { data: { keys } };
        },
      })
      .update({
        summary: 'Note what came from a source',
        response: NoContent,
        takes: ['address', 'objects'],
        handle: async ({ data }) => {
          await imports.put(data.source, data.address, data.objects);
          return undefined;
        },
      })
      .delete({
        summary: 'Forget a source; what came from it stays',
        response: NoContent,
        handle: async ({ data }) => {
          await imports.forget(data.source);
          return undefined;
        },
      }),

    path('import/{source}/compare', {
      synopsis: 'Which things are as the last import left them.',
      description:
        'Answers for each thing whether its digests are those of the last import. Things that did not come from this source are left out.',
      access: 'sudo',
      fields: { source, objects },
    }).update({
      summary: 'Compare things with the last import',
      response: Type.Object({ objects: Type.Record(Type.String(), Same) }),
      handle: async ({ data }) => ({ data: { objects: await imports.compare(data.source, data.objects) } }),
    }),
  ];
}
