import { coresAtHand } from '../config/cores.ts';
import type { Configuration } from '../config/configuration.ts';
import { Findings, type Finding } from './finding.ts';

/** Whether a server of several workers has cores for them; of a server of one process there is nothing to say. */
export function checkWorkers({ workers }: Configuration, cores = coresAtHand()): Finding[] {
  const found = new Findings('workers');
  if (workers > cores)
    found.warning(
      `${workers} workers share ${cores} cores: each costs memory, and none makes the server faster`,
      'Set workers = "auto", or fewer',
    );
  else if (workers > 1) found.ok(`${workers} workers on ${cores} cores`);
  return found.all;
}
