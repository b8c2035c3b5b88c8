import { Conflict } from '@strongroom/storage-sdk';

const TRIES = 5;

/** Repeats work that another server got in the way of. @throws Conflict after a few tries */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Conflict) || tries === TRIES) throw error;
    }
  }
}
