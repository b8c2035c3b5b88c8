import { type AnyPath, BadRequest, f, NoContent, path, Warned } from '@strongroom/engine-sdk';
import { internalOf } from '../../services/caller/internal-request.ts';
import type { TokenRevoker } from '../../services/tokens/token-revoker.ts';
import type { TokenStore } from '../../services/tokens/token-store.ts';

/** `auth/token/revoke…` and `tidy`. What is already gone counts as revoked. */
export function revokePaths({ tokens, revoker }: { tokens: TokenStore; revoker: TokenRevoker }): AnyPath[] {
  const description = 'The token, its children and all that was issued to them are taken back.';
  return [
    path('revoke-self', { synopsis: 'Revokes the calling token.', description, fields: {} }).update({
      summary: 'Revokes the calling token.',
      response: NoContent,
      handle: async (req) => {
        const { token } = internalOf(req);
        if (token!.type === 'batch') throw new BadRequest('batch tokens cannot be revoked');
        await revoker.revoke(token!.digest, req.signal);
        return undefined;
      },
    }),
    path('revoke', { synopsis: 'Revokes a token.', description, fields: { token: f.secret('The token.') } }).update({
      summary: 'Revokes a token.',
      response: NoContent,
      handle: async (req) => {
        if (!req.data.token) throw new BadRequest('missing token ID');
        if (req.data.token.startsWith('b.')) throw new BadRequest('batch tokens cannot be revoked');
        await revoker.revoke(await tokens.digest(req.data.token), req.signal);
        return undefined;
      },
    }),
    path('revoke-orphan', {
      synopsis: 'Revokes a token and leaves its children.',
      description: 'The children become orphans.',
      access: 'sudo',
      fields: { token: f.secret('The token.') },
    }).update({
      summary: 'Revokes a token, not its children.',
      response: NoContent,
      handle: async (req) => {
        if (!req.data.token) throw new BadRequest('missing token ID');
        await revoker.revoke(await tokens.digest(req.data.token), req.signal, { orphanChildren: true });
        return undefined;
      },
    }),
    path('revoke-accessor', {
      synopsis: 'Revokes the token of an accessor.',
      description,
      fields: { accessor: f.string('The accessor.') },
    }).update({
      summary: 'Revokes a token by its accessor.',
      response: NoContent,
      handle: async (req) => {
        if (!req.data.accessor) throw new BadRequest('missing accessor');
        const found = await tokens.byAccessor(req.data.accessor);
        if (!found) return { warnings: ['No token found with this accessor'] };
        await revoker.revoke(found.digest, req.signal);
        return undefined;
      },
    }),
    path('tidy', {
      synopsis: 'Cleans up after tokens.',
      description: 'Nothing is left to clean: index entries go in one commit with their token.',
      fields: {},
    }).update({
      summary: 'Accepted for clients that call it.',
      response: NoContent,
      answers: { 202: Warned },
      handle: async () => ({
        status: 202,
        warnings: ['Tidy operation successfully started. Any information from the operation will be printed to the server logs.'],
      }),
    }),
  ];
}
