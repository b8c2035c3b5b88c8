let end: Promise<void> | undefined;

/**
 * Resolves at the end of this turn of the event loop, when all sockets that could be read have been. What waits for it begins together and goes on step by step
 * beside each other: the processor runs the same code for all of it while it has that at hand. Each keeps its asynchronous context.
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
