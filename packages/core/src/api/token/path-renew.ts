import { type AnyPath, BadRequest, type EngineResponse, f, InvalidRequest, IssuedToken, path } from '@strongroom/engine-sdk';
import { internalOf, reply } from '../../services/caller/internal-request.ts';
import type { RenewalCaller, TokenRenewal } from '../../services/tokens/token-renewal.ts';
import type { FoundToken, TokenStore } from '../../services/tokens/token-store.ts';

/** The parts of a request that a renewal needs. */
interface Asking {
  readonly caller: RenewalCaller;
  readonly signal: AbortSignal;
}

/** `auth/token/renew…` */
export function renewPaths({ tokens, renewal }: { tokens: TokenStore; renewal: TokenRenewal }): AnyPath[] {
  const increment = f.duration('Seconds from now that are asked for; 0 asks for the original ttl.', { default: 0 });
  const description = 'Extends the life of a token within its limits.';

  const renew = async (found: FoundToken, token: string, wanted: number, asking: Asking): Promise<EngineResponse<never>> => {
    const { auth, warnings } = await renewal.renew(found, token, wanted, asking);
    return reply({ auth, warnings: warnings.length > 0 ? warnings : null });
  };
  const renewNamed = async (token: string | undefined, req: Asking, wanted: number): Promise<EngineResponse<never>> => {
    const { token: own, identity } = internalOf(req);
    if (!token || token === identity!.token) return renew(own!, identity!.token, wanted, req);
    const found = await tokens.find(token);
    if (!found) throw new BadRequest('token not found');
    return renew(found, token, wanted, req);
  };

  return [
    path('renew-self', { synopsis: 'Renews the calling token.', description, fields: { token: f.secret('Ignored.'), increment } }).update({
      summary: 'Renews the calling token.',
      response: IssuedToken,
      handle: async (req) => renewNamed(undefined, req, req.data.increment),
    }),
    path('renew', { synopsis: 'Renews a token.', description, fields: { token: f.secret('The token.'), increment } }).update({
      summary: 'Renews a token.',
      response: IssuedToken,
      handle: async (req) => renewNamed(req.data.token, req, req.data.increment),
    }),
    path('renew-accessor', {
      synopsis: 'Renews the token of an accessor.',
      description,
      fields: { accessor: f.string('The accessor.'), increment },
    }).update({
      summary: 'Renews a token by its accessor.',
      response: IssuedToken,
      handle: async (req) => {
        if (!req.data.accessor) throw new BadRequest('missing accessor');
        const found = await tokens.byAccessor(req.data.accessor);
        if (!found) throw new InvalidRequest('invalid accessor');
        return renew(found, '', req.data.increment, req);
      },
    }),
  ];
}
