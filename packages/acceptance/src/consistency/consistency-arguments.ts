import { amountIn, flagsIn, nameIn } from '../arguments.ts';

/** What a run checks, in this order. */
export const SET_UP_NAMES = ['lmdb', 'workers', 'postgresql', 'failover', 'etcd'] as const;
export type SetUpName = (typeof SET_UP_NAMES)[number];

export interface ConsistencyArguments {
  /** Of each run. */
  readonly seconds: number;
  /** Undefined for all. */
  readonly only: SetUpName | undefined;
  readonly faults: boolean;
}

const USAGE = `npm run consistency [-- --seconds=60 --only=${SET_UP_NAMES.join('|')} --faults=yes|no]`;

/** The arguments of `npm run consistency [-- --seconds=60 --only=NAME --faults=no]`. @throws WrongArgument */
export function consistencyArguments(words: readonly string[]): ConsistencyArguments {
  const { seconds = '60', only, faults = 'yes' } = flagsIn(words, ['seconds', 'only', 'faults'], USAGE);
  return {
    seconds: amountIn('--seconds', seconds, { example: 60 }),
    only: only === undefined ? undefined : nameIn('--only', only, SET_UP_NAMES),
    faults: nameIn('--faults', faults, ['yes', 'no']) === 'yes',
  };
}
