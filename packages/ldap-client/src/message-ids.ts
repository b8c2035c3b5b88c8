const LAST = 2 ** 31 - 1;

/** Ids of requests: 1 to 2³¹−1 and again from 1 (RFC 4511 section 4.1.1.1), none that is still waiting for its answer. */
export class MessageIds {
  #last: number;

  constructor(last = 0) {
    this.#last = last;
  }

  next(taken: (id: number) => boolean): number {
    do this.#last = this.#last >= LAST ? 1 : this.#last + 1;
    while (taken(this.#last));
    return this.#last;
  }
}
