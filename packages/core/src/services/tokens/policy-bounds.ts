import type { PolicyBound, TokenRecord } from './token-record.ts';

/** What bounds a new token, besides its own policies. */
export interface BoundOrder {
  readonly maker: Pick<TokenRecord, 'policies' | 'entity_id' | 'within'>;
  /** Policies that the maker has by its entity. */
  readonly identityPolicies: readonly string[];
  /** Of the new token. */
  readonly policies: readonly string[];
  readonly entityId: string;
  /** An operator's word, a role that names policies or sudo on the path, decides instead. */
  readonly decided: 'by role' | 'by sudo' | undefined;
}

/**
 * A policy may take away what another gives, so a token with fewer policies than its maker could do more: it is bounded by what its maker has. Where
 * both have the same, nothing needs to be kept.
 */
export function policyBounds({ maker, identityPolicies, policies, entityId, decided }: BoundOrder): PolicyBound[] {
  if (decided === 'by role') return [];
  const inherited = maker.within ?? [];
  if (decided === 'by sudo' || maker.policies.includes('root')) return inherited;
  const sameEntity = entityId === (maker.entity_id ?? '');
  const lacks = maker.policies.some((name) => !policies.includes(name)) || (!sameEntity && identityPolicies.length > 0);
  if (!lacks) return inherited;
  const all = [...new Set([...maker.policies, ...identityPolicies])].sort();
  return [...inherited, { policies: all, ...(maker.entity_id ? { entity_id: maker.entity_id } : {}) }];
}
