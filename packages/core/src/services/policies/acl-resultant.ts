import type { AccessRule } from './access-rule.ts';
import { capabilityNames } from './capability.ts';
import type { ParameterValues } from './policy-rule.ts';

export interface ResultantPath {
  capabilities: string[];
  /** Seconds. */
  min_wrapping_ttl?: number;
  max_wrapping_ttl?: number;
  allowed_parameters?: Record<string, ParameterValues>;
  denied_parameters?: Record<string, ParameterValues>;
  required_parameters?: readonly string[];
}

/** `data` of `sys/internal/ui/resultant-acl`. Globs stand without their closing `*`, except those with `+`. */
export type ResultantAcl =
  | { root: true }
  | { root: false; exact_paths: Record<string, ResultantPath>; glob_paths: Record<string, ResultantPath> };

export function resultantAcl(rules: readonly AccessRule[]): ResultantAcl {
  const exact: [string, ResultantPath][] = [];
  const globs: [string, ResultantPath][] = [];
  for (const rule of rules) {
    const { kind, text, stem } = rule.pattern;
    if (kind === 'exact') exact.push([text, resultantPath(rule)]);
    else globs.push([kind === 'prefix' ? stem : text, resultantPath(rule)]);
  }
  return { root: false, exact_paths: Object.fromEntries(exact), glob_paths: Object.fromEntries(globs) };
}

function resultantPath(rule: AccessRule): ResultantPath {
  return {
    capabilities: capabilityNames(rule.capabilities),
    ...(rule.minWrappingTtl === 0 ? {} : { min_wrapping_ttl: rule.minWrappingTtl }),
    ...(rule.maxWrappingTtl === 0 ? {} : { max_wrapping_ttl: rule.maxWrappingTtl }),
    ...(rule.allowed ? { allowed_parameters: Object.fromEntries(rule.allowed) } : {}),
    ...(rule.denied ? { denied_parameters: Object.fromEntries(rule.denied) } : {}),
    ...(rule.required.length === 0 ? {} : { required_parameters: rule.required }),
  };
}
