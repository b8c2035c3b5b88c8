import { holderSource, type Collection, type HolderSource } from '@strongroom/engine-sdk';
import type { RoleTokens } from './role-tokens.ts';

/** The policies that the parameters of tokens give. */
export function heldBy(tokens: Pick<RoleTokens, 'token_policies' | 'token_no_default_policy'>): {
  readonly policies: readonly string[];
  readonly withDefault: boolean;
} {
  return { policies: tokens.token_policies, withDefault: !tokens.token_no_default_policy };
}

/** Roles or users that are stored by their names, for `policyHolders` of an engine. `at` as in `recordPaths`. */
export function roleHolders(
  at: string,
  kind: string,
  records: Pick<Collection<Pick<RoleTokens, 'token_policies' | 'token_no_default_policy'>>, 'list' | 'get'>,
): HolderSource {
  return holderSource(at, kind, records, heldBy);
}
