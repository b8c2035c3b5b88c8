let end: Promise<void> | undefined;

/**
 * Resolves at the end of this turn of the event loop, when all sockets that could be read have been. Callers that wait for it continue together, step
 * by step: the processor runs the same code for all of them while it has it in its caches. Each keeps its asynchronous context.
 */
export function endOfTurn(): Promise<void> {
  end ??= new Promise((resolve) => {
    setImmediate(() => {
      end = undefined;
      resolve();
    });
  });
  return end;
}
