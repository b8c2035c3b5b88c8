import type { AnyPath, Clock } from '@strongroom/engine-sdk';
import type { Oidc } from '../../services/oidc/open-oidc.ts';
import { assignmentPaths } from './path-assignments.ts';
import { clientPaths } from './path-clients.ts';
import { configPaths } from './path-config.ts';
import { keyPaths } from './path-keys.ts';
import { providerDiscoveryPaths } from './path-provider-discovery.ts';
import { providerFlowPaths } from './path-provider-flow.ts';
import { providerPaths } from './path-providers.ts';
import { rolePaths } from './path-roles.ts';
import { scopePaths } from './path-scopes.ts';
import { tokenPaths } from './path-tokens.ts';
import { wellKnownPaths } from './path-well-known.ts';

/** `identity/oidc/…` */
export function oidcPaths(oidc: Oidc, clock: Clock): AnyPath[] {
  return [
    ...configPaths(oidc),
    ...keyPaths(oidc),
    ...rolePaths(oidc),
    ...tokenPaths(oidc),
    ...wellKnownPaths({ ...oidc, clock }),
    ...assignmentPaths(oidc),
    ...scopePaths(oidc),
    ...clientPaths(oidc),
    ...providerPaths(oidc),
    ...providerDiscoveryPaths({ ...oidc, clock }),
    ...providerFlowPaths(oidc),
  ];
}
