/**
 * Waits for `work`, but no longer than until `signal` is aborted; then rejects with `signal.reason` at once and calls `onAbort`, which
 * should make the abandoned work end. A later failure of that work is swallowed.
 */
export async function abortable<T>(signal: AbortSignal, work: Promise<T>, onAbort?: () => void): Promise<T> {
  if (signal.aborted) {
    work.catch(() => undefined);
    onAbort?.();
    throw signal.reason;
  }
  return await new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason);
      onAbort?.();
    };
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
