import type { OidcIssuer } from '../oidc-issuer.ts';
import { OpenidProvider, PROVIDER_ENDPOINTS } from './openid-provider.ts';
import type { ProviderClient } from './provider-parts.ts';

/** Makes a token issuer an OpenID provider, at which people log in to a client. */
export function addOpenidProvider(issuer: OidcIssuer, client: Partial<ProviderClient> = {}): OpenidProvider {
  const provider = new OpenidProvider({
    issuer: issuer.url,
    client: { id: 'lab-client', secret: 'lab-secret', redirectUris: [], ...client },
    now: () => issuer.clock(),
    sign: async (claims, { forged }) => issuer.sign(claims, { forged }),
  });
  issuer.describe(provider.metadata);
  for (const endpoint of PROVIDER_ENDPOINTS) issuer.route(`/${endpoint}`, (request, response) => void provider.handle(request, response));
  return provider;
}
