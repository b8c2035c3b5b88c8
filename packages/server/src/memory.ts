import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Bytes of V8's young generation, both halves, that are enough: most of what a request needs is dead long before. */
const ENOUGH = 8 * 2 ** 20;

/**
 * Keeps the process small while its modules load: nothing that runs once is worth compiling well, and V8 would let its young
 * generation grow to 32 MiB over them and keep it. What it returns is called once the server is ready.
 */
export function quietStart(): () => void {
  setFlagsFromString('--no-opt');
  const ownChoice = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((text) => /semi[-_]space/.test(text));
  if (!ownChoice) setFlagsFromString('--semi-space-growth-factor=1');
  return () => {
    setFlagsFromString('--opt');
    if (!ownChoice) limitYoungGeneration();
  };
}

/** Lets the young generation grow up to `ENOUGH`. Its greatest size is fixed when node starts, but whether it grows is asked each time. */
function limitYoungGeneration(): void {
  let factor = 1;
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const next = (young?.space_size ?? ENOUGH) < ENOUGH ? 2 : 1;
    if (next !== factor) setFlagsFromString(`--semi-space-growth-factor=${next}`);
    factor = next;
  });
  observer.observe({ entryTypes: ['gc'] });
}
