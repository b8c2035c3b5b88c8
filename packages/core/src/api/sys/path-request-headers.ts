import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { AuditedHeaders } from '../../services/audit/audited-headers.ts';

/** What RFC 9110 allows in a field name. */
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const Rules = Type.Record(Type.String(), Type.Object({ hmac: Type.Boolean() }));

/** `sys/config/auditing/request-headers`. */
export function requestHeaderPaths({ headers }: { readonly headers: AuditedHeaders }): AnyPath[] {
  return [
    path('config/auditing/request-headers', {
      synopsis: 'List the request headers that audit devices write.',
      description: 'None are written unless they are named here.',
      access: 'sudo',
      fields: {},
    }).read({
      summary: 'List the audited request headers',
      response: Type.Object({ headers: Rules }),
      handle: async () => ({ data: { headers: Object.fromEntries(headers.rules) } }),
    }),

    path('config/auditing/request-headers/{header:any}', {
      synopsis: 'Whether audit devices write a request header, and how.',
      description: 'Names are compared without regard to case.',
      access: 'sudo',
      fields: {
        header: f.name('Name of the header.', { folds: (name) => name.toLowerCase() }),
        hmac: f.bool('Write a digest instead of the value.', { default: false }),
      },
    })
      .read({
        summary: 'Read how a request header is audited',
        response: Rules,
        handle: async ({ data, verbatim }) => {
          const rule = headers.rules.get(data.header);
          if (!rule) throw new BadRequest('Could not find header in config');
          return { data: { [verbatim['header'] ?? data.header]: { hmac: rule.hmac } } };
        },
      })
      .update({
        summary: 'Audit a request header',
        response: NoContent,
        handle: async ({ data }) => {
          if (!headerName.test(data.header)) throw new BadRequest(`header ${JSON.stringify(data.header)} is not a header name`);
          await headers.put(data.header, { hmac: data.hmac });
          return undefined;
        },
      })
      .delete({
        summary: 'Stop auditing a request header',
        response: NoContent,
        handle: async ({ data }) => {
          await headers.delete(data.header);
          return undefined;
        },
      }),
  ];
}
