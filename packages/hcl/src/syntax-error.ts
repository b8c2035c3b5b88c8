/** A text that is neither HCL nor JSON. `line` and `column` count from 1; `reason` is the complaint without the position. */
export class HclSyntaxError extends Error {
  override readonly name = 'HclSyntaxError';
  readonly line: number;
  readonly column: number;
  readonly reason: string;

  constructor(reason: string, line: number, column: number, message = `At ${line}:${column}: ${reason}`) {
    super(message);
    this.reason = reason;
    this.line = line;
    this.column = column;
  }
}
