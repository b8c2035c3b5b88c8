export interface RefusalOptions extends ErrorOptions {
  /** The rest of the request is unwelcome: the connection is closed after the answer. */
  readonly closes?: boolean;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
}

/** A request that is answered here, without asking the core. `text` is what the caller reads; empty for an answer with no errors in it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly text: string;
  readonly closes: boolean;
  readonly headers: readonly string[];

  constructor(status: number, text = '', { closes = false, headers = [], ...options }: RefusalOptions = {}) {
    super(text, options);
    this.status = status;
    this.text = text;
    this.closes = closes;
    this.headers = headers;
  }
}
