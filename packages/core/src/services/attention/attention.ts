import type { Clock } from '@strongroom/engine-sdk';
import { outsideSubject } from '../../kernel/mounts/outside-subject.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { targetKey, type OutsideSystems } from '../../kernel/work/outside-systems.ts';
import type { AttentionItem, Right, Trouble } from './attention-item.ts';
import { groupedByCause } from './causes.ts';
import { circuitSeenBy, type MountTroubles } from './mount-troubles.ts';
import type { Source } from './server-troubles.ts';

/** Who looks. */
export interface Viewer {
  /** Whether anything at or below this path is allowed. */
  reaches(path: string): boolean;
  may(right: Right): boolean;
}

/** What needs a person, as one viewer may see it. */
export interface AttentionView {
  readonly items: readonly AttentionItem[];
  /** False where something was too much to read. */
  readonly complete: boolean;
  readonly asOf: Date;
}

/**
 * What needs a person, from all that the server looks after, grouped by cause and sorted by harm. Everything is read from indexes and memory, within bounds:
 * it costs what fails and not what there is. Who may not read the path of a thing does not learn that it fails, not even as a count.
 */
export class Attention {
  readonly #parts: {
    readonly clock: Clock;
    readonly outside: OutsideSystems;
    readonly mounts: () => readonly Mount[];
    readonly atMounts: MountTroubles;
    readonly ofServer: readonly Source[];
  };

  constructor(parts: {
    clock: Clock;
    outside: OutsideSystems;
    mounts: () => readonly Mount[];
    atMounts: MountTroubles;
    ofServer: readonly Source[];
  }) {
    this.#parts = parts;
  }

  async view(viewer: Viewer): Promise<AttentionView> {
    const { clock, atMounts, ofServer, mounts } = this.#parts;
    const reached = mounts().filter(({ path }) => viewer.reaches(path) || viewer.reaches('sys/schedule'));
    const sources = ofServer.filter(({ right }) => viewer.may(right));
    const found = await Promise.all([atMounts.read(reached), ...sources.map(async (source) => source.read())]);
    const troubles = found.flatMap((part) => part.troubles).filter(({ rights }) => rights.some((right) => viewer.may(right)));
    return {
      items: this.#grouped(troubles).map((item) => itemSeenBy(viewer, item)),
      complete: found.every(({ complete }) => complete),
      asOf: clock.now(),
    };
  }

  #grouped(troubles: readonly Trouble[]): AttentionItem[] {
    const { outside } = this.#parts;
    return groupedByCause(troubles, {
      subject: outsideSubject,
      circuit: (mount, target) => outside.breakers.status(targetKey(mount.uuid, target)),
    });
  }
}

function itemSeenBy(viewer: Viewer, item: AttentionItem): AttentionItem {
  const { mount, cause, attempts } = item;
  if (!mount || !cause) return item;
  return { ...item, cause: { ...cause, circuit: circuitSeenBy(viewer, { mount, target: cause.target }, cause.circuit, attempts) } };
}
