/**
 * The end of a turn of the event loop, when all sockets that could be read have been. Requests that begin there begin together and go on step by step beside each other: the
 * processor runs the same code for all of them while it has it at hand. Each keeps its asynchronous context.
 */
export class LoopTurn {
  #end: Promise<void> | undefined;

  /** Resolves at the end of this turn. */
  end(): Promise<void> {
    this.#end ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#end = undefined;
        resolve();
      });
    });
    return this.#end;
  }
}
