import type { ServerResponse } from 'node:http';
import { endOfTurn } from '@strongroom/engine-sdk';

/**
 * Answers that are complete, and written together once the event loop has looked at all sockets that can be read. A receiver on the same machine is woken
 * for several answers at a time: to wake it for each took a third of the main thread.
 */
export class AnswerQueue {
  #answers: { readonly response: ServerResponse; readonly body: string | Uint8Array }[] = [];
  readonly #flush = (): void => {
    const answers = this.#answers;
    this.#answers = [];
    for (const { response, body } of answers) response.end(body);
  };

  /** `response` has its head already. */
  add(response: ServerResponse, body: string | Uint8Array): void {
    if (this.#answers.push({ response, body }) === 1) void endOfTurn().then(this.#flush);
  }
}
