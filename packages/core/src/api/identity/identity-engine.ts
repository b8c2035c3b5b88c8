import { API_VERSION, type AnyPath, type AnySchedule, type EnginePackage } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../../services/identity/identity-store.ts';
import { entityAliasPaths } from './path-entity-alias.ts';
import { entityPaths } from './path-entity.ts';
import { groupAliasPaths } from './path-group-alias.ts';
import { groupPaths } from './path-group.ts';
import { lookupPaths } from './path-lookup.ts';

/** What others bring to `identity/`. */
export interface IdentityAdditions {
  readonly paths?: readonly AnyPath[];
  readonly schedules?: readonly AnySchedule[];
}

/**
 * `identity/`: the store's own front. The records of entities and groups are the core's, not the mount's, so it is mounted once and for good. The keys of
 * identity tokens are the mount's, with the jobs that rotate them.
 */
export function identityEngine(store: IdentityStore, { paths = [], schedules = [] }: IdentityAdditions = {}): EnginePackage {
  return {
    name: 'identity',
    kind: 'secret',
    apiVersion: API_VERSION,
    create: () => ({
      paths: [
        ...entityPaths(store),
        ...entityAliasPaths(store),
        ...groupPaths(store),
        ...groupAliasPaths(store),
        ...lookupPaths(store),
        ...paths,
      ],
      schedules,
      policyHolders: async (query) => store.policyHolders(query),
    }),
  };
}
