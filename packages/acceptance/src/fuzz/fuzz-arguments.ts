import { amountIn, countIn, WrongArgument } from '../arguments.ts';

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
  if (rest.length === 0) return read;
  throw new WrongArgument(`${JSON.stringify(rest[0])} is one argument too many: npm run fuzz [-- SECONDS [SEED]]`);
}
