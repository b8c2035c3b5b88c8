import type { PathFolds } from '../../kernel/mounts/path-router.ts';
import { mergeRule, type AccessRule } from './access-rule.ts';
import { comparePatterns, foldedPattern, matchesPath, type PathPattern } from './path-pattern.ts';

interface Folded {
  readonly rule: AccessRule;
  readonly folded: PathPattern;
}

/** The rules of a caller that match a path whose names fold, each by the canonical form of what its policy writes. */
export class FoldedRules {
  readonly #folds: PathFolds;
  readonly #rules = new Map<string, Folded>();

  constructor(folds: PathFolds) {
    this.#folds = folds;
  }

  /** A list's path matches with its closing slash and without. */
  matches({ pattern }: AccessRule, path: string, listing: boolean): boolean {
    if (matchesPath(pattern, path, this.#folds)) return true;
    return listing && path.endsWith('/') && matchesPath(pattern, path.slice(0, -1), this.#folds);
  }

  /** Two rules that are written differently and mean one path count as two blocks for that path. */
  add(rule: AccessRule): void {
    const folded = foldedPattern(rule.pattern, this.#folds);
    const key = folded.kind === 'exact' && folded.text.endsWith('/') ? folded.text.slice(0, -1) : folded.text;
    const before = this.#rules.get(key);
    if (before) mergeRule(before.rule, rule);
    else this.#rules.set(key, { rule: copyOf(rule), folded });
  }

  deciding(): AccessRule | undefined {
    let best: Folded | undefined;
    for (const one of this.#rules.values()) if (!best || comparePatterns(one.folded, best.folded) > 0) best = one;
    return best?.rule;
  }
}

/** Merging writes into its first rule; those of a caller are shared. */
function copyOf(rule: AccessRule): AccessRule {
  return {
    ...rule,
    grants: [...rule.grants],
    allowed: rule.allowed && new Map(rule.allowed),
    denied: rule.denied && new Map(rule.denied),
  };
}
