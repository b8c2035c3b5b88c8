import { type AnyPath, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { ISSUER_WARNING } from '../../services/oidc/token-issuer.ts';
import type { Oidc } from '../../services/oidc/open-oidc.ts';

/** `identity/oidc/config`. */
export function configPaths({ issuer }: Pick<Oidc, 'issuer'>): AnyPath[] {
  return [
    path('oidc/config', {
      synopsis: 'Configure the issuer of identity tokens.',
      description: 'Verifiers must be able to reach this server at the issuer.',
      fields: { issuer: f.string('Scheme, host and port, such as https://example.com:8200. Empty: api_addr of the server.') },
    })
      .read({
        summary: 'Read the issuer',
        response: Type.Object({ issuer: Type.String() }),
        handle: async () => ({ data: { issuer: await issuer.configured() } }),
      })
      .update({
        summary: 'Set the issuer',
        response: NoContent,
        handle: async ({ data }) => {
          if (data.issuer === undefined) return undefined;
          await issuer.configure(data.issuer);
          return data.issuer === '' ? undefined : { data: null, warnings: [ISSUER_WARNING] };
        },
      }),
  ];
}
