import { quietStart } from './quiet-start.ts';
import type { RunOptions } from './run-options.ts';
import { ignoreUserSignals } from './user-signals.ts';

/**
 * `strongroom server`: starts one and runs until SIGINT or SIGTERM; SIGHUP reloads. Answers the exit code: 0 after an orderly stop,
 * 1 when it could not start, which it explains.
 */
export async function runServer(argv: readonly string[], options: RunOptions = {}): Promise<number> {
  ignoreUserSignals();
  const started = quietStart();
  const { serve } = await import('./serve.ts');
  return serve(argv, options, started);
}
