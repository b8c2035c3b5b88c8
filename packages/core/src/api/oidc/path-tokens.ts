import { type AnyPath, f, path, rawAnswer, Seconds } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { IdentityTokens } from '../../services/oidc/identity-tokens.ts';
import { rawJson } from './raw-json.ts';

/** `identity/oidc/token/<role>`, `identity/oidc/introspect`. */
export function tokenPaths({ tokens }: { readonly tokens: IdentityTokens }): AnyPath[] {
  return [
    path('oidc/token/{name}', {
      synopsis: 'Get an identity token for the caller.',
      description: "Signed by the role's key. Other services verify it with the published keys and need no token of this server.",
      fields: { name: f.name('Name of the role.') },
    }).read({
      summary: 'Get an identity token',
      response: Type.Object({ client_id: Type.String(), token: Type.String({ secret: true }), ttl: Seconds }),
      handle: async ({ data, caller }) => {
        const { clientId, token, ttl } = await tokens.ofRole(data.name, caller.entityId);
        return { data: { client_id: clientId, token, ttl } };
      },
    }),

    path('oidc/introspect', {
      synopsis: 'Check whether an identity token is active.',
      description: 'For services that cannot verify signatures. The entity of the token must exist and must not be disabled.',
      fields: {
        token: f.string('The token.', { default: '' }),
        client_id: f.string('The audience that the token must have.', { default: '' }),
      },
    }).update({
      summary: 'Verify an identity token',
      response: rawAnswer('application/json', Type.Object({ active: Type.Boolean(), error: Type.Optional(Type.String()) })),
      handle: async ({ data }) => {
        const problem = await tokens.problemOf(data.token, data.client_id === '' ? undefined : data.client_id);
        return rawJson(problem === undefined ? { active: true } : { active: false, error: problem });
      },
    }),
  ];
}
