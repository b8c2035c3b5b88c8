/** An event of `sys/events`, as far as pages read it. */
export interface LiveEvent {
  readonly kind: string;
  readonly mount?: string;
  readonly name?: string;
}

/** The parts of `text/event-stream` as they arrive: text in, events out. */
export class EventReader {
  #text = '';
  /** The position to continue from. */
  cursor: string | undefined;

  constructor(cursor?: string) {
    this.cursor = cursor;
  }

  /** Takes a piece of the stream. What is not whole yet waits for the next piece. */
  take(piece: string): LiveEvent[] {
    const blocks = (this.#text + piece).split('\n\n');
    this.#text = blocks.pop() ?? '';
    return blocks.flatMap((block) => this.#event(block) ?? []);
  }

  #event(block: string): LiveEvent | undefined {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const colon = line.indexOf(': ');
      if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
    }
    const id = fields.get('id');
    if (id !== undefined) this.cursor = id;
    const kind = fields.get('event');
    if (kind === undefined) return undefined;
    return { ...(JSON.parse(fields.get('data') ?? '{}') as object), kind };
  }
}
