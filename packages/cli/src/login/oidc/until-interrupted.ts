import type { CliIo } from '../../cli-io.ts';
import { Failure } from '../../failure.ts';

/** Runs the work until it ends, or the user presses Ctrl-C: a Failure then. The signal is aborted at the end of both. */
export async function untilInterrupted<T>(io: Pick<CliIo, 'onInterrupt'>, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  let stop!: () => void;
  const interrupted = new Promise<never>((_, reject) => {
    stop = (io.onInterrupt ?? onSigint)(() => reject(new Failure('Interrupted')));
  });
  try {
    return await Promise.race([work(over.signal), interrupted]);
  } finally {
    stop();
    over.abort();
  }
}

function onSigint(end: () => void): () => void {
  process.once('SIGINT', end);
  return () => process.off('SIGINT', end);
}
