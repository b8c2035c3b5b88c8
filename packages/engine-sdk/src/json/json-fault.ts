/** A text that is no JSON; `message` is what Go's decoder says of it, which clients of this API know. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
}

/** JSON that costs more than is allowed. */
export class JsonTooComplex extends Error {
  override readonly name = 'JsonTooComplex';
  /** What there is too much of, such as `nesting depth`. */
  readonly what: string;
  /** How much is allowed. */
  readonly limit: number;

  constructor(what: string, limit: number) {
    super(`exceeded maximum ${what}`);
    this.what = what;
    this.limit = limit;
  }
}
