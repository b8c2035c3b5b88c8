import { refusal, type AccessRule, type RuleGrant } from './access-rule.ts';
import type { AclQuery, AclVerdict } from './acl-query.ts';
import { capabilityNames, LISTING, neededCapability, type Capability, type PolicyOperation } from './capability.ts';

/** Where a rule is written: the block begins there in the text of the policy, counted from 1. */
export interface RuleSource {
  readonly policy: string;
  readonly line: number;
  readonly column: number;
  readonly capabilities: string[];
}

export interface ExplainedRule {
  /** As the policy writes it. */
  readonly path: string;
  readonly policies: string[];
  readonly capabilities: string[];
  readonly sources: RuleSource[];
}

/** Why a call is allowed or refused, in words. Holds no value that was sent. */
export interface AclExplanation {
  readonly operation: PolicyOperation;
  readonly path: string;
  readonly allowed: boolean;
  readonly sudo: boolean;
  readonly reason: string;
  /** The one rule that decided. */
  readonly rule?: ExplainedRule;
  /** The capability that was missing. */
  readonly missing?: string;
  /** Where no rule matches: the rule whose path comes closest. */
  readonly nearest?: ExplainedRule;
  /** A block that would allow the call. */
  readonly suggestion?: string;
}

export function explainAccess(
  query: AclQuery,
  verdict: AclVerdict,
  root: boolean,
  rule: AccessRule | undefined,
  rules: readonly AccessRule[],
): AclExplanation {
  const { operation, path } = query;
  const base = { operation, path, allowed: verdict.allowed, sudo: verdict.sudo };
  if (root) return { ...base, reason: 'the root policy allows everything' };
  if (operation === 'help') return { ...base, reason: 'help is open to every token' };
  const needed = neededCapability(operation);
  if (needed === 0) return { ...base, reason: `no policy allows the operation ${operation}` };
  const missing = capabilityNames(needed)[0] as Capability;
  if (!rule) {
    const nearest = closest(path, rules);
    const reason = `no rule matches ${JSON.stringify(path)}`;
    const suggestion = stanza(path, withSudo([missing], query), needed);
    return { ...base, reason, missing, ...(nearest ? { nearest: explained(nearest) } : {}), suggestion };
  }
  const decided = { ...base, rule: explained(rule) };
  const where = `path ${JSON.stringify(writtenPath(rule))} of ${[...new Set(rule.grants.map((grant) => grant.policy))].join(', ')}`;
  const has = capabilityNames(rule.capabilities);
  if (verdict.allowed) {
    const reason = `${where} grants ${missing}`;
    if (query.needsSudo !== true || verdict.sudo) return { ...decided, reason };
    const suggestion = stanza(rule.pattern.text, withSudo(has, query), 0);
    return { ...decided, allowed: false, reason: `${reason}, but the path needs sudo as well`, missing: 'sudo', suggestion };
  }
  if ((rule.capabilities & needed) !== 0)
    return { ...decided, reason: `${where}: ${refusal(rule, needed, query.data, query.wrapTtl) ?? 'refused'}` };
  if (rule.unfilled !== undefined) {
    const reason = `${where} denies it: the caller does not have what its selectors name, so it denies every path that it could name`;
    return { ...decided, reason, missing };
  }
  if (has[0] === 'deny') return { ...decided, reason: `${where} denies it`, missing };
  const suggestion = stanza(rule.pattern.text, withSudo([...has, missing], query), 0);
  return { ...decided, reason: `${where} grants ${has.join(', ')}, not ${missing}`, missing, suggestion };
}

function writtenPath(rule: AccessRule): string {
  return rule.unfilled ?? rule.pattern.text;
}

function explained(rule: AccessRule): ExplainedRule {
  return {
    path: writtenPath(rule),
    policies: [...new Set(rule.grants.map((grant) => grant.policy))],
    capabilities: capabilityNames(rule.capabilities),
    sources: rule.grants.map(source),
  };
}

export function source({ policy, line, column, capabilities }: RuleGrant): RuleSource {
  return { policy, line, column, capabilities: capabilityNames(capabilities) };
}

/**
 * The explanation for somebody who may know of these policies alone. A rule that another policy has a part in is left out, with all that would tell what it says: its
 * path, its capabilities and the block that would change it.
 */
export function concealed(explanation: AclExplanation, known: (policy: string) => boolean): AclExplanation {
  const { rule, nearest, ...rest } = explanation;
  const isKnown = (one: ExplainedRule | undefined): boolean => one === undefined || one.policies.every(known);
  if (isKnown(rule)) return isKnown(nearest) ? explanation : { ...rest, ...(rule ? { rule } : {}) };
  const { suggestion: _told, ...told } = rest;
  return { ...told, reason: `a rule of a policy that is not yours to see ${rest.allowed ? 'allows' : 'refuses'} it` };
}

function withSudo(capabilities: readonly string[], { needsSudo }: AclQuery): string[] {
  return [...new Set(needsSudo === true ? [...capabilities, 'sudo'] : capabilities)].sort();
}

function stanza(path: string, capabilities: readonly string[], needed: number): string {
  const written = (needed & LISTING) !== 0 && path.endsWith('/') ? path.slice(0, -1) : path;
  return `path ${JSON.stringify(written)} {\n  capabilities = [${capabilities.map((name) => JSON.stringify(name)).join(', ')}]\n}`;
}

function closest(path: string, rules: readonly AccessRule[]): AccessRule | undefined {
  let best: AccessRule | undefined;
  let length = 0;
  for (const rule of rules) {
    const shared = sharedSegments(path.split('/'), rule.pattern.segments);
    if (shared > length) [best, length] = [rule, shared];
  }
  return best;
}

function sharedSegments(path: readonly string[], pattern: readonly string[]): number {
  let count = 0;
  while (count < path.length && count < pattern.length && (pattern[count] === '+' || pattern[count] === path[count])) count++;
  return count;
}
