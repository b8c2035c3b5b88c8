import { CAPABILITY_BITS, DENY, LISTING, type CapabilitySet } from './capability.ts';
import { deniedParameter, disallowedParameter, missingParameter } from './parameters.ts';
import type { FieldNames } from '../../kernel/mounts/path-router.ts';
import type { KeysFilter } from './keys-filter.ts';
import type { PathPattern } from './path-pattern.ts';
import type { ParameterValues, PolicyRule } from './policy-rule.ts';

/** One block of one policy. */
export interface RuleGrant {
  readonly policy: string;
  readonly capabilities: CapabilitySet;
  /** Where the block begins in the text of the policy, from 1. */
  readonly line: number;
  readonly column: number;
}

/** What all policies of a caller together say about one path. */
export interface AccessRule {
  readonly pattern: PathPattern;
  /** The path as its policy writes it, where its selectors name what the caller does not have. */
  readonly unfilled?: string;
  capabilities: CapabilitySet;
  /** Which block gave what; with a deny, only those that deny. */
  grants: RuleGrant[];
  allowed: Map<string, ParameterValues> | undefined;
  denied: Map<string, ParameterValues> | undefined;
  required: readonly string[];
  /** Seconds; 0 is no limit. */
  minWrappingTtl: number;
  maxWrappingTtl: number;
  paginationLimit: number;
  keysFilters: readonly KeysFilter[];
  /** Among the patterns with wildcards; the highest that matches decides. */
  rank: number;
}

/** `unfilled`: the path as written, of a deny rule that cannot be filled in for the caller and so denies all that `pattern` matches. */
export function accessRule(pattern: PathPattern, policy: string, rule: PolicyRule, unfilled?: string): AccessRule {
  const denies = rule.capabilities === DENY;
  return {
    pattern,
    ...(unfilled === undefined ? {} : { unfilled }),
    capabilities: rule.capabilities,
    grants: [{ policy, capabilities: rule.capabilities, line: rule.line, column: rule.column }],
    allowed: !denies && rule.allowedParameters ? new Map(rule.allowedParameters) : undefined,
    denied: !denies && rule.deniedParameters ? new Map(rule.deniedParameters) : undefined,
    required: denies ? [] : rule.requiredParameters,
    minWrappingTtl: rule.minWrappingTtl,
    maxWrappingTtl: rule.maxWrappingTtl,
    paginationLimit: rule.paginationLimit,
    keysFilters: rule.keysFilter ? [rule.keysFilter] : [],
    rank: -1,
  };
}

/** Joins another block for the same path: capabilities add up, a deny takes all, and of two limits the smaller one counts. */
export function mergeRule(into: AccessRule, from: AccessRule): void {
  if (from.capabilities === DENY && into.capabilities !== DENY) {
    Object.assign(into, { ...from, pattern: into.pattern, rank: into.rank, grants: [...from.grants] });
    return;
  }
  if (into.capabilities === DENY) {
    if (from.capabilities === DENY) into.grants.push(...from.grants);
    return;
  }
  into.capabilities |= from.capabilities;
  into.grants.push(...from.grants);
  into.allowed = mergeParameters(into.allowed, from.allowed);
  into.denied = mergeParameters(into.denied, from.denied);
  if (from.required.length > 0) into.required = [...new Set([...into.required, ...from.required])];
  into.minWrappingTtl = smaller(into.minWrappingTtl, from.minWrappingTtl);
  into.maxWrappingTtl = smaller(into.maxWrappingTtl, from.maxWrappingTtl);
  into.paginationLimit = smaller(into.paginationLimit, from.paginationLimit);
  into.keysFilters = bothFilters(into.keysFilters, from.keysFilters);
}

/** Of two lists, each filter once. */
export function bothFilters(a: readonly KeysFilter[], b: readonly KeysFilter[]): readonly KeysFilter[] {
  return [...a, ...b.filter(({ source }) => !a.some((one) => one.source === source))];
}

/** No values means any value, and wins over a list of values. */
function mergeParameters(
  into: Map<string, ParameterValues> | undefined,
  from: ReadonlyMap<string, ParameterValues> | undefined,
): Map<string, ParameterValues> | undefined {
  if (!from) return into;
  if (!into) return new Map(from);
  for (const [name, values] of from) {
    const before = into.get(name);
    if (!before) into.set(name, values);
    else into.set(name, before.length === 0 || values.length === 0 ? [] : [...before, ...values]);
  }
  return into;
}

function smaller(a: number, b: number): number {
  if (a === 0 || b === 0) return a || b;
  return Math.min(a, b);
}

/** Whether the capability alone settles a call, so that neither data nor wrapping need a look. */
export function isPlain(rule: AccessRule): boolean {
  return (
    rule.minWrappingTtl === 0 &&
    rule.maxWrappingTtl === 0 &&
    rule.paginationLimit === 0 &&
    rule.required.length === 0 &&
    (rule.allowed?.size ?? 0) === 0 &&
    (rule.denied?.size ?? 0) === 0
  );
}

const withParameters = CAPABILITY_BITS.create | CAPABILITY_BITS.read | CAPABILITY_BITS.update | CAPABILITY_BITS.patch;
const noData = {};

/** Why the rule refuses a call whose capability it grants; undefined when it allows it. */
export function refusal(
  rule: AccessRule,
  needed: CapabilitySet,
  data: Readonly<Record<string, unknown>> = noData,
  wrapTtl = 0,
  names?: FieldNames,
): string | undefined {
  if (rule.maxWrappingTtl > 0 && (wrapTtl <= 0 || wrapTtl > rule.maxWrappingTtl)) {
    return `the response must be wrapped for at most ${rule.maxWrappingTtl} seconds`;
  }
  if (rule.minWrappingTtl > 0 && (wrapTtl <= 0 || wrapTtl < rule.minWrappingTtl)) {
    return `the response must be wrapped for at least ${rule.minWrappingTtl} seconds`;
  }
  if ((needed & LISTING) !== 0) return pageRefusal(rule, data);
  if ((needed & withParameters) === 0) return undefined;
  // A field is the same under each of its names.
  const known = names ? underAllNames(data, names) : data;
  const missing = missingParameter(rule.required, known);
  if (missing !== undefined) return missing;
  const denied = rule.denied && deniedParameter(rule.denied, known);
  if (denied !== undefined) return denied;
  return rule.allowed && rule.allowed.size > 0 ? disallowedParameter(rule.allowed, data, names) : undefined;
}

function underAllNames(data: Readonly<Record<string, unknown>>, names: FieldNames): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(data).flatMap(([key, value]) => (names.get(key) ?? [key]).map((name) => [name, value])));
}

/** A list without `limit` gets the rule's own, unless the rule requires the caller to send one. */
function pageRefusal(rule: AccessRule, data: Readonly<Record<string, unknown>>): string | undefined {
  if (rule.paginationLimit === 0) return undefined;
  const sent = data['limit'];
  if (sent === undefined) return rule.required.includes('limit') ? 'parameter "limit" is required' : undefined;
  const limit = Number(sent);
  const fits = Number.isSafeInteger(limit) && limit > 0 && limit <= rule.paginationLimit;
  return fits ? undefined : `parameter "limit" must be between 1 and ${rule.paginationLimit}`;
}
