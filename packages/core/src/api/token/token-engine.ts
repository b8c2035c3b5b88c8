import { holderSource, pageOfHolders, type EnginePackage } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../../services/identity/identity-store.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { createPaths } from './path-create.ts';
import { lookupPaths } from './path-lookup.ts';
import { renewPaths } from './path-renew.ts';
import { rolePaths } from './path-roles.ts';
import { revokePaths } from './path-revoke.ts';
import type { TokenCreation } from '../../services/tokens/token-creation.ts';
import type { TokenRenewal } from '../../services/tokens/token-renewal.ts';
import type { TokenRevoker } from '../../services/tokens/token-revoker.ts';
import { heldByRole } from '../../services/tokens/child-policies.ts';
import { TokenRoles } from '../../services/tokens/token-roles.ts';
import type { TokenStore } from '../../services/tokens/token-store.ts';

/** `auth/token/`: tokens that make, show, extend and end tokens. */
export function tokenEngine(parts: {
  tokens: TokenStore;
  creation: TokenCreation;
  renewal: TokenRenewal;
  revoker: TokenRevoker;
  identity: IdentityStore;
}): EnginePackage {
  return {
    name: 'token',
    kind: 'auth',
    apiVersion: 2,
    create: (host) => {
      const roles = new TokenRoles(host.storage);
      return {
        paths: [
          ...createPaths({ creation: parts.creation, roles, mount: host.mount as Mount }),
          ...lookupPaths({ tokens: parts.tokens, identity: parts.identity, now: () => host.clock.millis() }),
          ...renewPaths({ tokens: parts.tokens, renewal: parts.renewal }),
          ...revokePaths({ tokens: parts.tokens, revoker: parts.revoker }),
          ...rolePaths({ roles }),
        ],
        policyHolders: async (query) => pageOfHolders([holderSource('roles', 'role', roles, heldByRole)], query),
      };
    },
  };
}
