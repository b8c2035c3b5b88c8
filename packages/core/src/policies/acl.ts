import { accessRule, isPlain, mergeRule, refusal, type AccessRule } from './access-rule.ts';
import { AclReach } from './acl-reach.ts';
import { explainAccess, type AclExplanation } from './acl-explanation.ts';
import { resultantAcl, type ResultantAcl } from './acl-resultant.ts';
import { capabilityNames, DENY, LISTING, neededCapability, SUDO, type CapabilitySet, type PolicyOperation } from './capability.ts';
import { comparePatterns, matchesPath, pathPattern, PathPatternError, type PathPattern } from './path-pattern.ts';
import type { PolicyRule } from './policy-rule.ts';
import type { Policy } from './policy.ts';
import { PrefixTree } from './prefix-tree.ts';
import { SegmentTree } from './segment-tree.ts';
import { resolveTemplate, type TemplateContext, type TemplateRules } from './template.ts';

export interface AclQuery {
  readonly operation: PolicyOperation;
  /** Without `/v1/`; that of a list ends in a slash. */
  readonly path: string;
  /** Paths that lead to the same thing. */
  readonly otherSpellings?: readonly string[] | undefined;
  /** What the caller sends, before the fields are decoded. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** Seconds; 0 or absent asks for no wrapping. */
  readonly wrapTtl?: number | undefined;
}

export interface AclVerdict {
  readonly allowed: boolean;
  /** Whether the deciding rule has the sudo capability; what needs it is for the path to say. */
  readonly sudo: boolean;
  /** Names of the policies that gave the capability. */
  readonly grantingPolicies: readonly string[];
  /** A list without `limit` takes this one; 0 for none. */
  readonly paginationLimit: number;
  /** A list drops the keys whose path by this template the caller cannot reach; '' for none. */
  readonly keysFilterPath: string;
}

const none: readonly string[] = [];
const refused: AclVerdict = { allowed: false, sudo: false, grantingPolicies: [], paginationLimit: 0, keysFilterPath: '' };
const helped: AclVerdict = { ...refused, allowed: true };
const rooted: AclVerdict = { ...refused, allowed: true, sudo: true, grantingPolicies: ['root'] };

interface DecidingRule extends AccessRule {
  readonly plain: boolean;
  /** By needed capability; made on first use. */
  readonly verdicts: Map<CapabilitySet, AclVerdict>;
}

/** What a set of policies allows; immutable. One rule decides each call, and finding it does not take longer with more rules. */
export class Acl {
  /** Everything is allowed. */
  readonly root: boolean;
  /** Milliseconds since the epoch: when a block's own expiration changes the answers next. */
  readonly validUntil: number;
  readonly #exact = new Map<string, DecidingRule>();
  readonly #prefixes = new PrefixTree<DecidingRule>();
  readonly #segments = new SegmentTree<DecidingRule>();
  /** Wildcard rules in ascending rank. */
  readonly #wild: readonly DecidingRule[];
  readonly #hasSegments: boolean;
  #reach: AclReach | undefined;

  private constructor(root: boolean, rules: readonly AccessRule[], validUntil: number) {
    this.root = root;
    this.validUntil = validUntil;
    const wild: DecidingRule[] = [];
    for (const merged of rules) {
      const rule: DecidingRule = { ...merged, plain: isPlain(merged), verdicts: new Map() };
      if (rule.pattern.kind === 'exact') this.#exact.set(rule.pattern.text, rule);
      else wild.push(rule);
    }
    wild.sort((a, b) => comparePatterns(a.pattern, b.pattern));
    wild.forEach((rule, rank) => {
      rule.rank = rank;
      if (rule.pattern.kind === 'prefix') this.#prefixes.set(rule.pattern.stem, rule);
      else this.#segments.add(rule);
    });
    this.#wild = wild;
    this.#hasSegments = wild.some((rule) => rule.pattern.kind === 'segments');
  }

  /**
   * Paths with selectors are filled in from the context; those it cannot fill are left out, and so are blocks that have expired at `now`
   * (milliseconds since the epoch).
   */
  static compile(policies: readonly Policy[], context?: TemplateContext, now = 0): Acl {
    if (policies.some((policy) => policy.name === 'root')) return new Acl(true, [], Number.POSITIVE_INFINITY);
    const rules = new Map<string, AccessRule>();
    let validUntil = Number.POSITIVE_INFINITY;
    for (const policy of policies) {
      for (const rule of policy.rules) {
        if (rule.expiration !== undefined) {
          if (rule.expiration <= now) continue;
          validUntil = Math.min(validUntil, rule.expiration);
        }
        const pattern = patternFor(rule, context, policy.templateRules);
        if (!pattern) continue;
        const before = rules.get(pattern.text);
        if (before) mergeRule(before, policy.name, rule);
        else rules.set(pattern.text, accessRule(pattern, policy.name, rule));
      }
    }
    return new Acl(false, [...rules.values()], validUntil);
  }

  check(query: AclQuery): AclVerdict {
    if (this.root) return rooted;
    const { operation, path, otherSpellings = none } = query;
    if (operation === 'help') return helped;
    const needed = neededCapability(operation);
    const listing = (needed & LISTING) !== 0;
    if (otherSpellings.length === 0) return this.#verdictOf(this.#ruleFor(path, listing), needed, query);
    const rules = this.#rulesFor([path, ...otherSpellings], listing);
    return rules.length === 0 ? refused : rules.map((rule) => this.#verdictOf(rule, needed, query)).reduce(both);
  }

  #verdictOf(rule: DecidingRule | undefined, needed: CapabilitySet, { data, wrapTtl }: AclQuery): AclVerdict {
    if (!rule || (rule.capabilities & needed) === 0) return refused;
    if (!rule.plain && refusal(rule, needed, data, wrapTtl) !== undefined) return refused;
    let verdict = rule.verdicts.get(needed);
    if (!verdict) rule.verdicts.set(needed, (verdict = verdictOf(rule, needed)));
    return verdict;
  }

  /** Sorted; `["root"]` where everything is allowed, `["deny"]` where nothing is. */
  capabilities(path: string, otherSpellings: readonly string[] = none): string[] {
    if (this.root) return ['root'];
    const rules = this.#rulesFor([path, ...otherSpellings], true);
    return capabilityNames(rules.length === 0 ? 0 : rules.reduce((all, rule) => all & rule.capabilities, rules[0]!.capabilities));
  }

  /** Whether anything at or below this mount (`secret/`) is allowed. */
  reaches(prefix: string): boolean {
    if (this.root) return true;
    this.#reach ??= new AclReach([...this.#exact.values()], this.#wild);
    return this.#reach.reaches(prefix, this.#prefixes.longest(prefix));
  }

  /** What a user interface asks to hide what cannot be used. */
  resultant(): ResultantAcl {
    return this.root ? { root: true } : resultantAcl(this.#rules());
  }

  /** Which rule decides, and what is missing. Takes time by the number of rules. */
  explain(operation: PolicyOperation, path: string, details: Omit<AclQuery, 'operation' | 'path'> = {}): AclExplanation {
    const query = { operation, path, ...details };
    const needed = neededCapability(operation);
    const rules = this.root ? [] : this.#rulesFor([path, ...(details.otherSpellings ?? none)], (needed & LISTING) !== 0);
    const rule = rules.find((one) => !this.#verdictOf(one, needed, query).allowed) ?? rules[0];
    return explainAccess(query, this.check(query), this.root, rule, this.#rules());
  }

  #rules(): AccessRule[] {
    return [...this.#exact.values(), ...this.#wild];
  }

  /**
   * The rules that decide a call whose path has several spellings; all have to allow it. A deny of one spelling is a deny of all. A rule that covers
   * every spelling gives way to those that are written for one of them, as it would if they were written for all.
   */
  #rulesFor(spellings: readonly string[], listing: boolean): readonly DecidingRule[] {
    const rules = new Set<DecidingRule>();
    for (const path of spellings) {
      const rule = this.#ruleFor(path, listing);
      if (rule?.capabilities === DENY) return [rule];
      if (rule) rules.add(rule);
    }
    if (rules.size < 2) return [...rules];
    const covers = ({ pattern }: AccessRule, path: string): boolean =>
      matchesPath(pattern, path) || (listing && path.endsWith('/') && matchesPath(pattern, path.slice(0, -1)));
    const narrow = [...rules].filter((rule) => !spellings.every((path) => covers(rule, path)));
    return narrow.length > 0 ? narrow : [...rules];
  }

  /** A list is asked for with a closing slash, and rules are written with and without one: the best of both spellings decides. */
  #ruleFor(asked: string, listing: boolean): DecidingRule | undefined {
    let path = asked;
    while (path.startsWith('/')) path = path.slice(1);
    const exact = this.#exact.get(path);
    if (exact) return exact;
    if (!listing || !path.endsWith('/')) return this.#wildFor(path, undefined);
    const bare = path.slice(0, -1);
    return this.#exact.get(bare) ?? this.#wildFor(bare, this.#wildFor(path, undefined));
  }

  #wildFor(path: string, best: DecidingRule | undefined): DecidingRule | undefined {
    const prefix = this.#prefixes.longest(path);
    const found = prefix && (!best || prefix.rank > best.rank) ? prefix : best;
    return this.#hasSegments ? this.#segments.find(path, found) : found;
  }
}

function patternFor(rule: PolicyRule, context: TemplateContext | undefined, templateRules: TemplateRules): PathPattern | undefined {
  if (!rule.template) return rule.pattern;
  const path = resolveTemplate(rule.template, context, templateRules);
  if (path === undefined) return undefined;
  try {
    return pathPattern(path);
  } catch (error) {
    if (error instanceof PathPatternError) return undefined;
    throw error;
  }
}

function verdictOf(rule: AccessRule, needed: CapabilitySet): AclVerdict {
  const granting = rule.grants.filter((grant) => (grant.capabilities & needed) !== 0).map((grant) => grant.policy);
  return Object.freeze({
    allowed: true,
    sudo: (rule.capabilities & SUDO) !== 0,
    grantingPolicies: Object.freeze([...new Set(granting)]),
    paginationLimit: (needed & LISTING) === 0 ? 0 : rule.paginationLimit,
    keysFilterPath: (needed & LISTING) === 0 ? '' : rule.keysFilterPath,
  });
}

/** What two rules that both have to allow a call say together. */
function both(a: AclVerdict, b: AclVerdict): AclVerdict {
  if (!a.allowed || !b.allowed) return refused;
  return {
    allowed: true,
    sudo: a.sudo && b.sudo,
    grantingPolicies: [...new Set([...a.grantingPolicies, ...b.grantingPolicies])],
    paginationLimit:
      a.paginationLimit === 0 || b.paginationLimit === 0
        ? a.paginationLimit || b.paginationLimit
        : Math.min(a.paginationLimit, b.paginationLimit),
    keysFilterPath: a.keysFilterPath || b.keysFilterPath,
  };
}
