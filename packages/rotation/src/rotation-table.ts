import type { Finding } from './login.ts';
import type { Outcome } from './outcome.ts';

/** What the record of a credential holds. A process that dies leaves one of these, and the next process goes on from it. */
export type Stage = 'unrotated' | 'settled' | 'changing' | 'unsettled' | 'shelved';

/** What happens to the candidate after a try. */
export type Move = 'promote' | 'drop' | 'shelve' | 'keep';

/**
 * What a try did outside. Beside the outcomes of a failed call: `acknowledged`: the change was made, as the other side says. `found`: nothing, since a
 * login showed that an earlier try had made the change. `skipped`: nothing, since the window of the plan is over.
 */
export type Effect = Outcome | 'acknowledged' | 'found' | 'skipped';

/** `creation`: the record is new. `first`: it was imported, and its credential is not known. `rotation`: it has a current credential. */
export type Kind = 'creation' | 'first' | 'rotation';

/** `again`: an earlier try may have made the change. */
export type Attempt = 'first' | 'again';

/** What is known after a try. */
export interface Try {
  readonly effect: Effect;
  readonly kind: Kind;
  readonly attempt: Attempt;
  /** What a login found then; absent where none was tried. */
  readonly login?: Finding['proof'] | undefined;
}

/** The stages: what is stored, and how the next rotation begins. */
export const stages: Readonly<Record<Stage, { readonly stored: string; readonly next: string }>> = {
  unrotated: { stored: 'no credential', next: 'a new candidate' },
  settled: { stored: 'the current credential', next: 'a new candidate' },
  changing: { stored: 'the current credential, the candidate and a claim', next: 'none until the claim ends' },
  unsettled: { stored: 'the current credential and the candidate', next: 'a login with the candidate, then the same change' },
  shelved: {
    stored: 'the current credential, and the candidate of an acknowledged change that was not in force',
    next: 'a login with the candidate, then the same change',
  },
};

/** The moves out of `changing`, and what one commit stores with each. A process that dies makes none: its claim ends, and the record is `unsettled`. */
export const moves: Readonly<Record<Move, { readonly to: Stage; readonly stored: string }>> = {
  promote: { to: 'settled', stored: 'the candidate as the current credential, the time, and the next time of the plan' },
  drop: { to: 'settled', stored: 'the failure, without the candidate; a creation is removed' },
  shelve: { to: 'shelved', stored: 'the failure, and the candidate apart' },
  keep: { to: 'unsettled', stored: 'the failure, and the end of the claim' },
};

/** One line of the table; a column that is absent holds for all. */
export interface Verdict {
  readonly effect: Effect;
  readonly kind?: readonly Kind[];
  readonly attempt?: Attempt;
  /** A login is tried, if a line of its try has this column. */
  readonly login?: readonly Finding['proof'][];
  readonly move: Move;
}

/**
 * What is proven before a candidate becomes the current credential, or is dropped. The first line that fits holds. A candidate is dropped only where the
 * current credential is accepted, or where nothing was changed outside.
 */
export const verdicts: readonly Verdict[] = [
  { effect: 'found', login: ['candidate'], move: 'promote' },

  { effect: 'acknowledged', login: ['candidate', 'unprovable'], move: 'promote' },
  { effect: 'acknowledged', kind: ['rotation'], login: ['current'], move: 'shelve' },
  { effect: 'acknowledged', login: ['current', 'neither', 'untried'], move: 'keep' },

  { effect: 'unsent', attempt: 'first', move: 'drop' },
  { effect: 'unsent', attempt: 'again', move: 'keep' },

  { effect: 'refused', kind: ['first'], move: 'keep' },
  { effect: 'refused', login: ['candidate'], move: 'promote' },
  { effect: 'refused', kind: ['rotation'], login: ['current'], move: 'drop' },
  { effect: 'refused', attempt: 'first', login: ['unprovable'], move: 'drop' },
  { effect: 'refused', kind: ['creation'], attempt: 'first', login: ['current', 'neither'], move: 'drop' },
  { effect: 'refused', login: ['current', 'neither', 'unprovable', 'untried'], move: 'keep' },

  { effect: 'unknown', kind: ['creation'], login: ['candidate'], move: 'promote' },
  { effect: 'unknown', move: 'keep' },

  { effect: 'skipped', login: ['candidate'], move: 'promote' },
  { effect: 'skipped', login: ['current'], move: 'drop' },
  { effect: 'skipped', login: ['neither', 'unprovable', 'untried'], move: 'keep' },
];

/** Whether the table wants a login after a try. */
export function wantsLogin(tried: Omit<Try, 'login'>): boolean {
  return verdicts.some((verdict) => verdict.login !== undefined && covers(verdict, tried));
}

/** What happens to the candidate. What no line covers keeps it. */
export function verdictOn(tried: Try): Move {
  const { login } = tried;
  const verdict = verdicts.find(
    (row) => covers(row, tried) && (row.login === undefined || (login !== undefined && row.login.includes(login))),
  );
  return verdict?.move ?? 'keep';
}

function covers({ effect, kind, attempt }: Verdict, tried: Omit<Try, 'login'>): boolean {
  return effect === tried.effect && (kind?.includes(tried.kind) ?? true) && (attempt ?? tried.attempt) === tried.attempt;
}

/** What decides the stage of a record. */
export interface Staged {
  readonly current?: unknown;
  readonly pending?: { readonly until: number } | undefined;
  readonly shelved?: unknown;
}

/** `now` in milliseconds. */
export function stageOf({ current, pending, shelved }: Staged, now: number): Stage {
  if (pending) return pending.until > now ? 'changing' : 'unsettled';
  if (shelved !== undefined) return 'shelved';
  return current === undefined ? 'unrotated' : 'settled';
}
