import { CAPABILITY_BITS, DENY, LISTING, type CapabilitySet } from './capability.ts';
import { deniedParameter, disallowedParameter, missingParameter } from './parameters.ts';
import type { PathPattern } from './path-pattern.ts';
import type { ParameterValues, PolicyRule } from './policy-rule.ts';

/** What all policies of a caller together say about one path. */
export interface AccessRule {
  readonly pattern: PathPattern;
  capabilities: CapabilitySet;
  /** Which policy gave what; with a deny, only those that deny. */
  grants: { policy: string; capabilities: CapabilitySet }[];
  allowed: Map<string, ParameterValues> | undefined;
  denied: Map<string, ParameterValues> | undefined;
  required: readonly string[];
  /** Seconds; 0 is no limit. */
  minWrappingTtl: number;
  maxWrappingTtl: number;
  paginationLimit: number;
  keysFilterPath: string;
  /** Among the patterns with wildcards; the highest that matches decides. */
  rank: number;
}

export function accessRule(pattern: PathPattern, policy: string, rule: PolicyRule): AccessRule {
  const denies = rule.capabilities === DENY;
  return {
    pattern,
    capabilities: rule.capabilities,
    grants: [{ policy, capabilities: rule.capabilities }],
    allowed: !denies && rule.allowedParameters ? new Map(rule.allowedParameters) : undefined,
    denied: !denies && rule.deniedParameters ? new Map(rule.deniedParameters) : undefined,
    required: denies ? [] : rule.requiredParameters,
    minWrappingTtl: rule.minWrappingTtl,
    maxWrappingTtl: rule.maxWrappingTtl,
    paginationLimit: rule.paginationLimit,
    keysFilterPath: rule.keysFilterPath,
    rank: -1,
  };
}

/** Joins another block for the same path: capabilities add up, a deny takes all, and of two limits the smaller one counts. */
export function mergeRule(into: AccessRule, policy: string, rule: PolicyRule): void {
  if (rule.capabilities === DENY && into.capabilities !== DENY) {
    Object.assign(into, accessRule(into.pattern, policy, rule));
    return;
  }
  if (into.capabilities === DENY) {
    if (rule.capabilities === DENY) into.grants.push({ policy, capabilities: DENY });
    return;
  }
  into.capabilities |= rule.capabilities;
  into.grants.push({ policy, capabilities: rule.capabilities });
  into.allowed = mergeParameters(into.allowed, rule.allowedParameters);
  into.denied = mergeParameters(into.denied, rule.deniedParameters);
  if (rule.requiredParameters.length > 0) into.required = [...new Set([...into.required, ...rule.requiredParameters])];
  into.minWrappingTtl = smaller(into.minWrappingTtl, rule.minWrappingTtl);
  into.maxWrappingTtl = smaller(into.maxWrappingTtl, rule.maxWrappingTtl);
  into.paginationLimit = smaller(into.paginationLimit, rule.paginationLimit);
  into.keysFilterPath ||= rule.keysFilterPath;
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
): string | undefined {
  if (rule.maxWrappingTtl > 0 && (wrapTtl <= 0 || wrapTtl > rule.maxWrappingTtl)) {
    return `the response must be wrapped for at most ${rule.maxWrappingTtl} seconds`;
  }
  if (rule.minWrappingTtl > 0 && (wrapTtl <= 0 || wrapTtl < rule.minWrappingTtl)) {
    return `the response must be wrapped for at least ${rule.minWrappingTtl} seconds`;
  }
  if ((needed & LISTING) !== 0) return pageRefusal(rule, data);
  if ((needed & withParameters) === 0) return undefined;
  const missing = missingParameter(rule.required, data);
  if (missing !== undefined) return missing;
  const denied = rule.denied && deniedParameter(rule.denied, data);
  if (denied !== undefined) return denied;
  return rule.allowed && rule.allowed.size > 0 ? disallowedParameter(rule.allowed, data) : undefined;
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
