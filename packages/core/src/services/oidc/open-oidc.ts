import type { Clock, StorageView } from '@strongroom/engine-sdk';
import type { Barrier } from '../../kernel/barrier/barrier.ts';
import type { IdentityStore } from '../identity/identity-store.ts';
import { AccessTokens } from './access-tokens.ts';
import { Assignments } from './assignments.ts';
import { Clients } from './clients.ts';
import { Grants } from './grants.ts';
import { IdentityTokens } from './identity-tokens.ts';
import { NamedKeys } from './named-keys.ts';
import { ProviderFlow } from './provider-flow.ts';
import { Providers } from './providers.ts';
import { Scopes } from './scopes.ts';
import { TokenIssuer } from './token-issuer.ts';
import { IdentityTokenRoles } from './token-roles.ts';

/** Identity tokens and the OpenID providers. */
export type Oidc = ReturnType<typeof openOidc>;

/** `storage`: that of the mount `identity/` as it is now. `apiAddress`: where clients reach this server; '' where nobody said. */
export function openOidc(parts: {
  storage: () => StorageView;
  identity: IdentityStore;
  barrier: Barrier;
  clock: Clock;
  apiAddress: string;
}) {
  const { storage, identity, clock } = parts;
  const issuer = new TokenIssuer(parts);
  const keys = new NamedKeys(parts);
  const roles = new IdentityTokenRoles({ storage, keys });
  const assignments = new Assignments(storage);
  const scopes = new Scopes(storage);
  const clients = new Clients({ storage, keys, assignments });
  const providers = new Providers({ storage, issuer, scopes, clients, keys });
  const grants = new Grants(parts);
  const accessTokens = new AccessTokens(parts);
  return {
    ...{ issuer, keys, roles, assignments, scopes, clients, providers },
    tokens: new IdentityTokens({ keys, roles, issuer, identity, clock }),
    flow: new ProviderFlow({ providers, clients, assignments, scopes, keys, grants, accessTokens, identity, clock }),
    /** What the engine of `identity/` runs by the schedule. */
    schedules: [keys.rotations, grants.expiry],
  };
}
