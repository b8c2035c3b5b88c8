import { holdSignals } from './early-signals.ts';
import { quietStart } from './quiet-start.ts';
import type { RunOptions } from './run-options.ts';

/**
 * `strongroom server`: starts one and runs until SIGINT or SIGTERM; SIGHUP reloads. Answers the exit code: 0 after an orderly stop,
 * 1 when it could not start, which it explains.
 */
export async function runServer(argv: readonly string[], options: RunOptions = {}): Promise<number> {
  const release = holdSignals();
  try {
    const started = quietStart();
    const { serve } = await import('./serve.ts');
    return await serve(argv, options, started);
  } finally {
    release();
  }
}
