import { API_VERSION, type EnginePackage } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../../services/identity/identity-store.ts';
import { entityAliasPaths } from './path-entity-alias.ts';
import { entityPaths } from './path-entity.ts';
import { groupAliasPaths } from './path-group-alias.ts';
import { groupPaths } from './path-group.ts';
import { lookupPaths } from './path-lookup.ts';

/** `identity/`: the store's own front. Its records are the core's, not the mount's, so it is mounted once and for good. */
export function identityEngine(store: IdentityStore): EnginePackage {
  return {
    name: 'identity',
    kind: 'secret',
    apiVersion: API_VERSION,
    create: () => ({
      paths: [...entityPaths(store), ...entityAliasPaths(store), ...groupPaths(store), ...groupAliasPaths(store), ...lookupPaths(store)],
    }),
  };
}
