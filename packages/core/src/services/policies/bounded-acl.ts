import type { PathFolds } from '../../kernel/mounts/path-router.ts';
import { bothFilters } from './access-rule.ts';
import type { AclExplanation } from './acl-explanation.ts';
import type { ResultantAcl } from './acl-resultant.ts';
import { Acl } from './acl.ts';
import type { AclQuery, AclVerdict } from './acl-query.ts';
import type { PolicyOperation } from './capability.ts';

/** What a token may do whose makers were bounded themselves: what its own policies allow, and those of all of its makers allow as well. */
export class BoundedAcl extends Acl {
  readonly #own: Acl;
  readonly #bounds: readonly Acl[];

  constructor(own: Acl, bounds: readonly Acl[]) {
    super(false, [], [], Math.min(own.validUntil, ...bounds.map(({ validUntil }) => validUntil)));
    this.#own = own;
    this.#bounds = bounds;
  }

  override check(query: AclQuery): AclVerdict {
    let verdict = this.#own.check(query);
    for (const bound of this.#bounds) {
      if (!verdict.allowed) return verdict;
      verdict = both(verdict, bound.check(query));
    }
    return verdict;
  }

  override capabilities(path: string, folds?: PathFolds): string[] {
    const all = [this.#own, ...this.#bounds].map((acl) => acl.capabilities(path, folds)).filter(([first]) => first !== 'root');
    const [first = ['root'], ...others] = all;
    const common = first.filter((name) => others.every((names) => names.includes(name)));
    return common.length === 0 ? ['deny'] : common;
  }

  override bars(folder: string, asked: string): boolean {
    return this.#own.bars(folder, asked) || this.#bounds.some((bound) => bound.bars(folder, asked));
  }

  override reaches(prefix: string): boolean {
    return this.#own.reaches(prefix) && this.#bounds.every((bound) => bound.reaches(prefix));
  }

  override listsAll(folder: string): boolean {
    return this.#own.listsAll(folder) && this.#bounds.every((bound) => bound.listsAll(folder));
  }

  /** Of its own policies: for hints alone. */
  override resultant(): ResultantAcl {
    return this.#own.resultant();
  }

  override explain(operation: PolicyOperation, path: string, details: Omit<AclQuery, 'operation' | 'path'> = {}): AclExplanation {
    const own = this.#own.explain(operation, path, details);
    if (!own.allowed) return own;
    for (const bound of this.#bounds) {
      const explained = bound.explain(operation, path, details);
      if (!explained.allowed) return { ...explained, reason: `the token has no more than the one that made it: ${explained.reason}` };
    }
    return { ...own, sudo: own.sudo && this.#bounds.every((bound) => bound.explain(operation, path, details).sudo) };
  }
}

function both(a: AclVerdict, b: AclVerdict): AclVerdict {
  if (!b.allowed) return b;
  return {
    allowed: true,
    sudo: a.sudo && b.sudo,
    grantingPolicies: a.grantingPolicies,
    paginationLimit:
      a.paginationLimit === 0 || b.paginationLimit === 0
        ? a.paginationLimit || b.paginationLimit
        : Math.min(a.paginationLimit, b.paginationLimit),
    keysFilters: bothFilters(a.keysFilters, b.keysFilters),
  };
}
