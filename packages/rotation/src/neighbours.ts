import { systemClock, waitAtMost } from '@strongroom/engine-sdk';

/** How long a mount may take to tell, in milliseconds. */
const PATIENCE = 2_000;

interface Neighbour<Q> {
  answer(question: Q): Promise<string[]>;
  silent: boolean;
}

/** The mounts of this process that log in somewhere, and tell whom they log in as: whoever changes a password locks the others out. */
export class Neighbours<Q> {
  readonly #mounts = new Set<Neighbour<Q>>();

  /** `answer`: what of the mount fits a question, in words. The function that is returned ends it. */
  join(answer: (question: Q) => Promise<string[]>): () => void {
    const neighbour: Neighbour<Q> = { answer, silent: false };
    this.#mounts.add(neighbour);
    return () => this.#mounts.delete(neighbour);
  }

  /** What of all mounts fits. A mount whose store does not answer holds up no other one, and is not asked again before it does. */
  async ask(question: Q): Promise<string[]> {
    return (await Promise.all([...this.#mounts].map(async (mount) => answerOf(mount, question)))).flat();
  }
}

async function answerOf<Q>(mount: Neighbour<Q>, question: Q): Promise<string[]> {
  if (mount.silent) return [];
  const asked = mount.answer(question).catch(() => []);
  const answer = await waitAtMost(systemClock, PATIENCE, asked);
  if (answer !== undefined) return answer;
  mount.silent = true;
  void asked.then(() => (mount.silent = false));
  return [];
}
