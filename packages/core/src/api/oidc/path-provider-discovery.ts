import { type AnyPath, type Clock, f, path, rawAnswer } from '@strongroom/engine-sdk';
import type { Providers } from '../../services/oidc/providers.ts';
import { OPENID } from '../../services/oidc/scopes.ts';
import { ALGORITHMS } from '../../services/oidc/signing-algorithm.ts';
import { requireAddress } from '../../services/oidc/token-issuer.ts';
import { DISCOVERY_AGE, KeySetAnswer, keySetAnswer } from './path-well-known.ts';
import { cacheFor, rawJson } from './raw-json.ts';

const nameField = f.name('Name of the provider.');

/** `identity/oidc/provider/<name>/.well-known/…`: without a token. */
export function providerDiscoveryPaths({ providers, clock }: { readonly providers: Providers; readonly clock: Clock }): AnyPath[] {
  return [
    path('oidc/provider/{name}/.well-known/openid-configuration', {
      synopsis: 'The discovery document of a provider.',
      description: 'As OpenID Connect Discovery defines it.',
      access: 'unauthenticated',
      fields: { name: nameField },
    }).read({
      summary: "Read a provider's discovery document",
      response: rawAnswer('application/json'),
      handle: async ({ data }) => {
        const found = await providers.get(data.name);
        if (!found) return undefined;
        const { issuer } = found;
        requireAddress(issuer, `identity/oidc/provider/${data.name}`);
        const body = {
          issuer,
          jwks_uri: `${issuer}/.well-known/keys`,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          request_parameter_supported: false,
          request_uri_parameter_supported: false,
          id_token_signing_alg_values_supported: ALGORITHMS,
          response_types_supported: ['code'],
          scopes_supported: [...found.scopes_supported, OPENID],
          claims_supported: [],
          subject_types_supported: ['public'],
          grant_types_supported: ['authorization_code'],
          token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
          code_challenge_methods_supported: ['S256', 'plain'],
        };
        return rawJson(body, { headers: cacheFor(DISCOVERY_AGE) });
      },
    }),

    path('oidc/provider/{name}/.well-known/keys', {
      synopsis: 'The public keys of a provider.',
      description: 'A JSON Web Key Set with the keys of the clients that the provider serves.',
      access: 'unauthenticated',
      fields: { name: nameField },
    }).read({
      summary: "Read a provider's key set",
      response: KeySetAnswer,
      handle: async ({ data }) => {
        const found = await providers.get(data.name);
        return found && keySetAnswer(await providers.keySet(found), clock);
      },
    }),
  ];
}
