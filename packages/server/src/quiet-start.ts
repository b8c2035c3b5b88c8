import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Bytes of V8's young generation, both halves, that are enough: most of what a request needs is dead before it is full. */
const ENOUGH = 16 * 2 ** 20;
/** By how many per cent the old generation grows before it is collected. V8 would let it become several times as large as what is in use. */
const GROWTH = 25;

/** Once a process: the first call counts. */
let ready: (() => void) | undefined;

/**
 * Keeps the process small while its modules load: nothing that runs once is worth compiling well, and V8 would let its young
 * generation grow to 32 MiB over them and keep it. Call it before anything large is loaded; what it returns is called once the server is ready.
 */
export function quietStart(): () => void {
  ready ??= begin();
  return ready;
}

function begin(): () => void {
  setFlagsFromString('--no-opt');
  // A process that serves many requests at once looks to V8 as if what they hold lived long. It would then be made in the old generation, which is
  // collected at several times the cost.
  if (!isChosen(/pretenuring/)) setFlagsFromString('--no-allocation-site-pretenuring');
  const ownChoice = isChosen(/semi[-_]space/);
  if (!ownChoice) setFlagsFromString('--semi-space-growth-factor=1');
  return () => {
    setFlagsFromString('--opt');
    if (!ownChoice) limitYoungGeneration();
    if (!isChosen(/heap[-_]growing/)) setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
  };
}

/** Whether the operator has set such a flag of V8. */
function isChosen(flag: RegExp): boolean {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((text) => flag.test(text));
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
