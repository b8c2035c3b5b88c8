import type { Subject } from '@strongroom/engine-sdk';
import type { Mount } from './mount.ts';

/** What an outside system of a mount is to a person, by what the mount calls it; undefined where its engine does not say. Never throws. */
export function outsideSubject(mount: Pick<Mount, 'engine' | 'run'>, target: string): Subject | undefined {
  try {
    return mount.run(() => mount.engine?.system?.(target));
  } catch {
    return undefined;
  }
}
