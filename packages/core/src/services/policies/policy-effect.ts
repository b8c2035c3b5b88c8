import type { AclExplanation, RuleSource } from './acl-explanation.ts';
import { source } from './acl-explanation.ts';
import { accessRule } from './access-rule.ts';
import { Acl, matchesEither } from './acl.ts';
import type { AclQuery } from './acl-query.ts';
import { LISTING, neededCapability } from './capability.ts';
import { pathPattern } from './path-pattern.ts';
import type { PolicyRule } from './policy-rule.ts';
import type { Policy } from './policy.ts';
import { widestPath, type TemplateContext } from './template.ts';

/**
 * What policies say about a call. `lacks`: the rule that decides gives other capabilities alone. `depends`: a path with selectors may be this one, so it depends on who
 * calls.
 */
export type Effect = 'allows' | 'denies' | 'lacks' | 'depends';

export interface PolicyEffect {
  readonly effect: Effect;
  /** The path of the rule as written; absent of the root policy. */
  readonly rule?: string;
  /** The blocks that the effect comes from. */
  readonly sources: RuleSource[];
  /** Of `allows`: what a call must meet besides, such as parameters. */
  readonly condition?: string;
}

/**
 * What these policies together say about a call, whatever it sends; undefined where they say nothing, so that the call is refused. Without a context, blocks with
 * selectors make it depend on the caller.
 */
export function effectOf(policies: readonly Policy[], query: AclQuery, now: number, context?: TemplateContext): PolicyEffect | undefined {
  const open = context ? [] : policies.flatMap((policy) => openSources(policy, query, now));
  const known = open.length === 0 ? policies : policies.map(withoutSelectors);
  const explained = Acl.compile(known, context, now).explain(query.operation, query.path, query);
  if (open.length > 0) return { effect: 'depends', sources: [...open, ...(explained.rule?.sources ?? [])] };
  return decided(explained);
}

function decided(explained: AclExplanation): PolicyEffect | undefined {
  const { rule, allowed, operation, missing, reason } = explained;
  if (!rule) return allowed ? { effect: 'allows', sources: [] } : undefined;
  const about = { rule: rule.path, sources: rule.sources };
  if (allowed) return { effect: 'allows', ...about };
  if (rule.capabilities.includes('deny')) return { effect: 'denies', ...about };
  if (missing === undefined && rule.capabilities.includes(operation)) return { effect: 'allows', ...about, condition: reason };
  return { effect: 'lacks', ...about };
}

/** The blocks with selectors that may mean this path for somebody. */
function openSources(policy: Policy, { path, operation, folds }: AclQuery, now: number): RuleSource[] {
  if (!policy.templated) return [];
  const listing = (neededCapability(operation) & LISTING) !== 0;
  return policy.rules.flatMap((rule) => {
    if (!rule.template || (rule.expiration !== undefined && rule.expiration <= now)) return [];
    const pattern = pathPattern(widestPath(rule.template, policy.templateRules));
    if (!matchesEither(pattern, path, listing, folds)) return [];
    return accessRule(pattern, policy.name, rule).grants.map(source);
  });
}

function withoutSelectors(policy: Policy): Policy {
  return policy.templated ? { ...policy, rules: policy.rules.filter((rule: PolicyRule) => !rule.template) } : policy;
}
