/** A request that is answered here, without asking the core. `text` is what the caller reads; empty for an answer with no errors in it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly text: string;
  /** The rest of the request is unwelcome: the connection is closed after the answer. */
  readonly closes: boolean;

  constructor(status: number, text = '', closes = false) {
    super(text);
    this.status = status;
    this.text = text;
    this.closes = closes;
  }
}
