import type { PolicyBound } from '../tokens/token-record.ts';
import type { CallerIdentity } from './caller-identity.ts';

/** What is kept of a caller for work that goes on after the request: the names of policies, not what they say. */
export interface StandingRights {
  readonly policies: readonly string[];
  readonly entity_id?: string;
  readonly within?: readonly PolicyBound[];
}

/** As a text. Of nobody: no policies. */
export function standingRightsOf(caller: Pick<CallerIdentity, 'tokenPolicies' | 'entityId' | 'within'> | undefined): string {
  const rights: StandingRights = {
    policies: caller?.tokenPolicies ?? [],
    ...(caller?.entityId ? { entity_id: caller.entityId } : {}),
    ...(caller?.within ? { within: caller.within } : {}),
  };
  return JSON.stringify(rights);
}

/** The reverse. The text is one of our own: engines only keep it. */
export function readStandingRights(text: string): StandingRights {
  return JSON.parse(text) as StandingRights;
}
