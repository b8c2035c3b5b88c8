/** A text that is neither HCL nor JSON. `line` and `column` count from 1; `reason` is the complaint without the position. */
export class HclSyntaxError extends Error {
  override readonly name = 'HclSyntaxError';
  readonly line: number;
  readonly column: number;
  readonly reason: string;

  constructor(reason: string, line: number, column: number) {
    super(`At ${line}:${column}: ${reason}`);
    this.reason = reason;
    this.line = line;
    this.column = column;
  }
}
