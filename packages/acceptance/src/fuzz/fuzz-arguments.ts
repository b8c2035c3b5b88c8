import { amountIn, countIn, requireNoMore } from '../arguments.ts';

export interface FuzzArguments {
  readonly seconds: number;
  /** Undefined for a random one. */
  readonly seed: number | undefined;
}

/** The arguments of `npm run fuzz [-- SECONDS [SEED]]`. @throws WrongArgument */
export function fuzzArguments([seconds = '600', seed, ...rest]: readonly string[]): FuzzArguments {
  const read = {
    seconds: amountIn('SECONDS', seconds, { example: 600 }),
    seed: seed === undefined ? undefined : countIn('SEED', seed, { most: 2 ** 31 - 1, example: 7 }),
  };
  requireNoMore(rest, 'npm run fuzz [-- SECONDS [SEED]]');
  return read;
}
