import { BadRequest, type IdentityClaims, type MountIdentity } from '@strongroom/engine-sdk';
import type { MountRecord } from '../../kernel/mounts/mount-record.ts';
import type { IdentityTokens } from './identity-tokens.ts';
import { requireAddress, type TokenIssuer } from './token-issuer.ts';

/** How one mount is known outside. */
export function mountIdentity(
  { tokens, issuer }: { readonly tokens: IdentityTokens; readonly issuer: TokenIssuer },
  { class: kind, accessor, path }: Pick<MountRecord, 'class' | 'accessor' | 'path'>,
): MountIdentity {
  const claims = async (part = ''): Promise<IdentityClaims> => {
    const address = await issuer.ofMounts();
    requireAddress(address, 'identity/oidc/config');
    // A mount of the server's own has one place for good, and no list shows its accessor.
    const name = path.startsWith('sys/') ? path.slice(0, -1) : accessor;
    const subject = `plugin-identity:root:${kind}:${name}`;
    return { issuer: address, subject: part === '' ? subject : `${subject}:${part}` };
  };
  return {
    claims,
    token: async ({ audience, key = '', ttl, part }) => {
      if (audience === '') throw new BadRequest('the audience of an identity token must not be empty');
      const { issuer: iss, subject } = await claims(part);
      const signed = await tokens.sign({ audience, subject, ttl, ...(key === '' ? {} : { key }) });
      return { ...signed, issuer: iss, subject };
    },
  };
}
