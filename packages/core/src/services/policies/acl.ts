import type { PathFolds } from '../../kernel/mounts/path-router.ts';
import { accessRule, isPlain, mergeRule, refusal, type AccessRule } from './access-rule.ts';
import { listsAll } from './acl-cover.ts';
import { AclReach } from './acl-reach.ts';
import { explainAccess, type AclExplanation } from './acl-explanation.ts';
import { resultantAcl, type ResultantAcl } from './acl-resultant.ts';
import { capabilityNames, DENY, LISTING, neededCapability, SUDO, type CapabilitySet, type PolicyOperation } from './capability.ts';
import { FoldedRules } from './folded-rules.ts';
import { comparePatterns, matchesPath, pathPattern, PathPatternError, type PathPattern } from './path-pattern.ts';
import type { PolicyRule } from './policy-rule.ts';
import type { Policy } from './policy.ts';
import { PrefixTree } from './prefix-tree.ts';
import { SegmentTree } from './segment-tree.ts';
import { resolveTemplate, widestPath, type TemplateContext, type TemplateRules } from './template.ts';
import type { AclQuery, AclVerdict } from './acl-query.ts';

const refused: AclVerdict = { allowed: false, sudo: false, grantingPolicies: [], paginationLimit: 0, keysFilters: [] };
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
  /** Deny rules that cannot be filled in for this caller; they come before all others. */
  readonly #unfilled: readonly DecidingRule[];
  #reach: AclReach | undefined;

  protected constructor(root: boolean, rules: readonly AccessRule[], unfilled: readonly AccessRule[], validUntil: number) {
    this.root = root;
    this.validUntil = validUntil;
    this.#unfilled = unfilled.map(deciding);
    const wild: DecidingRule[] = [];
    for (const merged of rules) {
      const rule = deciding(merged);
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
   * Paths with selectors are filled in from the context. Where it does not have what a selector names, a block is left out, unless it denies: then it
   * denies every path that it could name. Blocks that have expired at `now` (milliseconds since the epoch) are left out.
   */
  static compile(policies: readonly Policy[], context?: TemplateContext, now = 0): Acl {
    if (policies.some((policy) => policy.name === 'root')) return new Acl(true, [], [], Number.POSITIVE_INFINITY);
    const rules = new Map<string, AccessRule>();
    const unfilled: AccessRule[] = [];
    let validUntil = Number.POSITIVE_INFINITY;
    for (const policy of policies) {
      for (const rule of policy.rules) {
        if (rule.expiration !== undefined) {
          if (rule.expiration <= now) continue;
          validUntil = Math.min(validUntil, rule.expiration);
        }
        const pattern = patternFor(rule, context, policy.templateRules);
        if (!pattern) {
          if (rule.capabilities === DENY) {
            unfilled.push(accessRule(pathPattern(widestPath(rule.template!, policy.templateRules)), policy.name, rule, rule.path));
          }
          continue;
        }
        const made = accessRule(pattern, policy.name, rule);
        const before = rules.get(pattern.text);
        if (before) mergeRule(before, made);
        else rules.set(pattern.text, made);
      }
    }
    return new Acl(false, [...rules.values()], unfilled, validUntil);
  }

  check(query: AclQuery): AclVerdict {
    if (this.root) return rooted;
    const { operation } = query;
    if (operation === 'help') return helped;
    const needed = neededCapability(operation);
    return this.#verdictOf(this.#ruleFor(query, (needed & LISTING) !== 0), needed, query);
  }

  #verdictOf(rule: DecidingRule | undefined, needed: CapabilitySet, { data, wrapTtl, names }: AclQuery): AclVerdict {
    if (!rule || (rule.capabilities & needed) === 0) return refused;
    if (!rule.plain && refusal(rule, needed, data, wrapTtl, names) !== undefined) return refused;
    let verdict = rule.verdicts.get(needed);
    if (!verdict) rule.verdicts.set(needed, (verdict = verdictOf(rule, needed)));
    return verdict;
  }

  /** Sorted; `["root"]` where everything is allowed, `["deny"]` where nothing is. `path` is canonical, without a closing slash. */
  capabilities(path: string, folds?: PathFolds): string[] {
    if (this.root) return ['root'];
    const rule = this.#ruleFor({ path, folds }, false);
    const ofList = this.#ruleFor({ path: `${path}/`, folds }, true);
    return capabilityNames(
      ((rule?.capabilities ?? 0) & ~LISTING & ~DENY) | ((ofList?.capabilities ?? 0) & (rule ? LISTING : LISTING | SUDO)),
    );
  }

  /**
   * Whether a scan of `asked` leaves out `folder`, which is below it: a rule denies the folder, or is about what is below `asked` alone and lets the caller neither list
   * nor scan. That no rule grants the folder is no reason. Both end in a slash.
   */
  bars(folder: string, asked: string): boolean {
    const rule = this.root ? undefined : this.#ruleFor({ path: folder }, true);
    if (!rule || (rule.capabilities & LISTING) !== 0) return false;
    return rule.capabilities === DENY || rule.capabilities === 0 || !matchesEither(rule.pattern, asked, true, undefined);
  }

  /** Whether anything at or below this mount (`secret/`) is allowed. */
  reaches(prefix: string): boolean {
    if (this.root) return true;
    if (this.#unfilled.some(({ pattern }) => coversAll(pattern, prefix))) return false;
    this.#reach ??= new AclReach([...this.#exact.values()], this.#wild);
    return this.#reach.reaches(prefix, this.#prefixes.longest(prefix));
  }

  /** Whether everything in a folder may be listed with sudo, whatever is in it. The folder ends in a slash. */
  listsAll(folder: string): boolean {
    if (this.root) return true;
    return this.#unfilled.length === 0 && listsAll(folder, this.#prefixes.longest(folder), this.#rules());
  }

  /** What a user interface asks to hide what cannot be used. */
  resultant(): ResultantAcl {
    return this.root ? { root: true } : resultantAcl(this.#rules());
  }

  /** Which rule decides, and what is missing. Takes time by the number of rules. */
  explain(operation: PolicyOperation, path: string, details: Omit<AclQuery, 'operation' | 'path'> = {}): AclExplanation {
    const query = { operation, path, ...details };
    const needed = neededCapability(operation);
    const rule = this.root ? undefined : this.#ruleFor(query, (needed & LISTING) !== 0);
    return explainAccess(query, this.check(query), this.root, rule, this.#rules());
  }

  #rules(): AccessRule[] {
    return [...this.#unfilled, ...this.#exact.values(), ...this.#wild];
  }

  /** The one rule that decides a canonical path. */
  #ruleFor({ path, folds }: Pick<AclQuery, 'path' | 'folds'>, listing: boolean): DecidingRule | undefined {
    if (this.#unfilled.length > 0) {
      const denying = this.#unfilled.find(({ pattern }) => matchesEither(pattern, path, listing, folds));
      if (denying) return denying;
    }
    if (folds) return this.#foldedRuleFor(path, listing, folds);
    const exact = this.#exact.get(path);
    if (!listing || !path.endsWith('/')) return exact ?? this.#wildFor(path, undefined);
    // A list is asked for with a closing slash, and rules are written with and without one: a rule on either variant holds for both.
    const bare = path.slice(0, -1);
    const other = this.#exact.get(bare);
    if (other && (!exact || other.capabilities === DENY)) return other;
    return exact ?? this.#wildFor(bare, this.#wildFor(path, undefined));
  }

  /** Names that fold are few, and so are calls to them: this looks at every rule of the caller. */
  #foldedRuleFor(path: string, listing: boolean, folds: PathFolds): DecidingRule | undefined {
    const rules = new FoldedRules(folds);
    for (const rule of [...this.#exact.values(), ...this.#wild]) if (rules.matches(rule, path, listing)) rules.add(rule);
    const rule = rules.deciding();
    return rule && deciding(rule);
  }

  #wildFor(path: string, best: DecidingRule | undefined): DecidingRule | undefined {
    const prefix = this.#prefixes.longest(path);
    const found = prefix && (!best || prefix.rank > best.rank) ? prefix : best;
    return this.#hasSegments ? this.#segments.find(path, found) : found;
  }
}

function deciding(rule: AccessRule): DecidingRule {
  return { ...rule, plain: isPlain(rule), verdicts: new Map() };
}

/** Whether the pattern matches; the path of a list counts with its closing slash and without. */
export function matchesEither(pattern: PathPattern, path: string, listing: boolean, folds: PathFolds | undefined): boolean {
  if (matchesPath(pattern, path, folds)) return true;
  return listing && path.endsWith('/') && matchesPath(pattern, path.slice(0, -1), folds);
}

/** Whether nothing at or below the prefix escapes the pattern. */
function coversAll({ kind, stem }: PathPattern, prefix: string): boolean {
  return kind === 'prefix' && prefix.startsWith(stem);
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
    keysFilters: (needed & LISTING) === 0 ? [] : rule.keysFilters,
  });
}
