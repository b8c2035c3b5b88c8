import type { AccessRule } from './access-rule.ts';
import { DENY, LISTING } from './capability.ts';
import type { PathPattern } from './path-pattern.ts';

/** Answers whether a caller may do anything below a mount. */
export class AclReach {
  /** Sorted paths and stems that grant something. */
  readonly #exact: readonly string[];
  readonly #stems: readonly string[];
  readonly #segments: readonly AccessRule[];

  constructor(exact: readonly AccessRule[], wild: readonly AccessRule[]) {
    const granting = wild.filter(grants);
    this.#exact = exact
      .filter(grants)
      .map((rule) => rule.pattern.text)
      .sort();
    this.#stems = granting
      .filter((rule) => rule.pattern.kind === 'prefix')
      .map((rule) => rule.pattern.stem)
      .sort();
    this.#segments = granting.filter((rule) => rule.pattern.kind === 'segments');
  }

  /** `covering` is the prefix rule that matches the mount's whole path; what ranks below it never decides there. */
  reaches(prefix: string, covering: AccessRule | undefined): boolean {
    if (covering && grants(covering)) return true;
    if (anyBegins(this.#exact, prefix) || anyBegins(this.#stems, prefix)) return true;
    // `path "secret"` grants the list of `secret/`.
    if (prefix.endsWith('/') && anyEquals(this.#exact, prefix.slice(0, -1))) return true;
    const segments = prefix.split('/');
    if (segments.at(-1) === '') segments.pop();
    return this.#segments.some((rule) => (!covering || rule.rank > covering.rank) && meets(rule, segments));
  }
}

function grants(rule: AccessRule): boolean {
  return rule.capabilities !== DENY && rule.capabilities !== 0;
}

/** Whether the pattern matches some path below the mount, or its list. */
function meets(rule: AccessRule, mount: readonly string[]): boolean {
  const { pattern } = rule;
  const last = pattern.segments.length - 1;
  for (let i = 0; i < mount.length; i++) {
    const segment = pattern.segments[i];
    if (segment === undefined) return false;
    if (pattern.glob && i === last) return (mount[i] ?? '').startsWith(segment);
    if (segment !== '+' && segment !== mount[i]) return false;
  }
  return below(pattern, mount.length) || (rule.capabilities & LISTING) !== 0;
}

function below(pattern: PathPattern, depth: number): boolean {
  return pattern.segments.length > depth;
}

function anyBegins(sorted: readonly string[], prefix: string): boolean {
  return sorted[firstFrom(sorted, prefix)]?.startsWith(prefix) ?? false;
}

function anyEquals(sorted: readonly string[], text: string): boolean {
  return sorted[firstFrom(sorted, text)] === text;
}

function firstFrom(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
