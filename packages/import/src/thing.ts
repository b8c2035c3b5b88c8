import type { JsonRecord } from './json.ts';
import type { Group } from './selection.ts';

/** What came of one thing of the source. In a plan: what would come of it. */
export type Outcome = 'imported' | 'same' | 'changed' | 'conflict' | 'needs-secret' | 'not-carriable' | 'refused' | 'failed';

/** One line of the report. Holds no secret. */
export interface Line {
  /** Such as `policy`. */
  readonly kind: string;
  /** Where the source has it. */
  readonly path: string;
  /** Where it is here, if that differs. */
  readonly to?: string;
  readonly outcome: Outcome;
  /** Why, or what to note. */
  readonly why?: string;
  /** The command that brings what could not come. */
  readonly command?: string;
  /** Lines of a policy that were rewritten: `- before`, `+ after`. */
  readonly diff?: readonly string[];
  /** What the source has of an engine that this server does not have. */
  readonly settings?: unknown;
}

/** One thing of the source that can be written here. */
export interface Thing {
  readonly kind: string;
  readonly group: Group;
  readonly path: string;
  readonly to: string;
  /** What the source has, in the form in which it is compared. */
  readonly content: unknown;
  /** What is here now; undefined if nothing is. */
  current(): Promise<unknown>;
  /** Whether what is here is what the source has. */
  matches(current: unknown): boolean;
  /** The names of what differs. */
  differences?(current: unknown): readonly string[];
  /** The part of what is here that tells whether somebody changed it. */
  state(current: unknown): unknown;
  /** Reads what the write needs beside the content, so that a plan meets what the source refuses. */
  prepare?(): Promise<void>;
  /** `replace`: something else is here, and goes. */
  write(replace: boolean): Promise<void>;
  /** Reads both sides again, whole, and compares them. */
  verify(): Promise<boolean>;
  /** Fields of the operator's file of secrets that are written with it; undefined for none. No read shows them again. */
  readonly given?: JsonRecord | undefined;
  /** Why it cannot be written as it is, and the command that brings it. */
  readonly needs?: { readonly why: string; readonly command?: string };
  /** Every server has one of its own: why this one did not come, where the two differ. */
  readonly unequal?: string;
  /** What is here is not touched even with `-on-conflict=replace`. */
  readonly fixed?: string | undefined;

  readonly diff?: readonly string[];
}

export function isThing(found: Thing | Line): found is Thing {
  return !('outcome' in found);
}

/** The name of a thing's given secrets in the record of imports. */
export function givenNameOf(thing: Pick<Thing, 'kind' | 'path'>): string {
  return `secrets of ${nameOf(thing)}`;
}

/** The name of a thing in the record of imports and in the checkpoint. */
export function nameOf({ kind, path }: Pick<Thing, 'kind' | 'path'>): string {
  return `${kind} ${path}`;
}
