import { type AnyPath, BadRequest, f, ListedKeys, NoContent, pageFields, path, slicePage } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { PageHeaders } from '../../services/settings/page-headers.ts';

/** `sys/config/ui/headers`. */
export function pageHeaderPaths({ pageHeaders }: { readonly pageHeaders: PageHeaders }): AnyPath[] {
  const header = f.name('Name of the header.', { folds: (name) => name.toLowerCase() });
  return [
    path('config/ui/headers', {
      synopsis: 'The headers that pages of the console are sent with.',
      description: 'Beside those of the server, which cannot be replaced.',
      access: 'sudo',
      fields: { ...pageFields },
    }).list({
      summary: 'List the headers of pages',
      response: ListedKeys,
      handle: async ({ data }) => {
        const keys = slicePage([...pageHeaders.all.keys()], data, (name) => name);
        return keys.length === 0 ? undefined : { data: { keys } };
      },
    }),

    path('config/ui/headers/{header:any}', {
      synopsis: 'A header that pages of the console are sent with.',
      description: 'Names are compared without regard to case.',
      access: 'sudo',
      fields: {
        header,
        values: f.commaStrings('Its values; each is sent as a header of its own.', { default: [] }),
        multivalue: f.bool('A read answers all values as `values`, and not the first as `value`.', { default: false }),
      },
    })
      .read({
        summary: 'Read a header of pages',
        response: Type.Object({ value: Type.Optional(Type.String()), values: Type.Optional(Type.Array(Type.String())) }),
        handle: async ({ data }) => {
          const values = pageHeaders.get(data.header);
          if (!values) return undefined;
          return { data: data.multivalue ? { values: [...values] } : { value: values[0] ?? '' } };
        },
      })
      .update({
        summary: 'Set a header of pages',
        response: NoContent,
        handle: async ({ data }) => {
          if (data.values.length === 0) throw new BadRequest('header and values must be specified');
          await pageHeaders.put(data.header, data.values);
          return { status: 200, data: null };
        },
      })
      .delete({
        summary: 'Remove a header of pages',
        response: NoContent,
        handle: async ({ data }) => {
          await pageHeaders.delete(data.header);
          return undefined;
        },
      }),
  ];
}
