/** Where something stands in the text, both counted from 1. In JSON a block stands where its label does. */
export interface HclPosition {
  readonly line: number;
  readonly column: number;
}

export interface HclString extends HclPosition {
  readonly kind: 'string';
  /** The text meant: escapes resolved, `${…}` left as written. */
  readonly value: string;
}

export interface HclNumber extends HclPosition {
  readonly kind: 'number';
  readonly value: number;
  /** The number as written: `0x1F`, `007`, `1e3`, or digits that a number cannot hold exactly. */
  readonly text: string;
  /** Whether it was written without point and exponent. */
  readonly integer: boolean;
}

export interface HclBool extends HclPosition {
  readonly kind: 'bool';
  readonly value: boolean;
}

/** JSON only; HCL has no null. */
export interface HclNull extends HclPosition {
  readonly kind: 'null';
}

export interface HclList extends HclPosition {
  readonly kind: 'list';
  readonly items: readonly HclValue[];
}

export interface HclObject extends HclPosition {
  readonly kind: 'object';
  readonly body: HclBody;
}

export type HclValue = HclString | HclNumber | HclBool | HclNull | HclList | HclObject;

/**
 * One assignment or block. `ttl = 5` has key `ttl` and no labels; `path "a" { … }` has key `path`, labels `["a"]` and
 * an object as value; `x { … }` and `x = { … }` differ in `assigned` only.
 */
export interface HclItem extends HclPosition {
  readonly key: string;
  readonly labels: readonly string[];
  readonly value: HclValue;
  /** Written with `=`. Never in JSON, where keys may repeat. */
  readonly assigned: boolean;
}

/** The items of a text or object in the order written, repeated keys included. */
export type HclBody = readonly HclItem[];
