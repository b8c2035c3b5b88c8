import type { StorageChoice } from './configuration.ts';
import { automaticWorkers, coresAtHand } from './cores.ts';
import type { Section } from './section.ts';

/** More than this is a mistake: each costs as much memory as a server. */
const MOST = 64;

/** `workers = 4`, or "auto": as many as the machine has cores, less one. In development there is one. */
export function readWorkers(top: Section, storage: StorageChoice['type'], dev: boolean): number {
  const text = top.scalar('workers') ?? '1';
  const alone = dev || storage === 'inmem';
  if (text === 'auto') return alone ? 1 : automaticWorkers(coresAtHand());
  const workers = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (workers < 1 || workers > MOST) top.complain('workers', `must be a number from 1 to ${MOST}, or "auto"`);
  else if (workers > 1 && storage === 'inmem')
    top.complain('workers', 'must be 1 with the storage "inmem": it is in the memory of one process');
  else if (workers > 1 && dev) top.notice('workers', 'has no effect: -dev runs one process');
  return alone || workers < 1 ? 1 : workers;
}
