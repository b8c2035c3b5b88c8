import { amountIn, countIn, requireWords } from '../arguments.ts';

export interface FuzzArguments {
  readonly seconds: number;
  /** Undefined for a random one. */
  readonly seed: number | undefined;
}

/** The arguments of `npm run fuzz [-- SECONDS [SEED]]`. @throws WrongArgument */
export function fuzzArguments(words: readonly string[]): FuzzArguments {
  requireWords(words, 2, 'npm run fuzz [-- SECONDS [SEED]]');
  const [seconds = '600', seed] = words;
  return {
    seconds: amountIn('SECONDS', seconds, { example: 600 }),
    seed: seed === undefined ? undefined : countIn('SEED', seed, { most: 2 ** 31 - 1, example: 7 }),
  };
}
