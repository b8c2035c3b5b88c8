import { amountIn, flagsIn, nameIn, type Command } from '../arguments.ts';

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

const MOST_SECONDS = 86_400;
const COMMAND: Command = {
  form: 'npm run consistency [-- --FLAG=VALUE …]',
  about:
    'Calls several servers on one store while things go wrong, and checks that one order of all calls explains every answer. Needs Go.',
  takes: [
    { word: '--seconds=NUMBER', text: `How long each run takes, at most ${MOST_SECONDS}. Default: 60.` },
    {
      word: '--only=NAME',
      text: [
        'The one run that is done. Default: all of them.',
        'lmdb: two processes on one folder of LMDB',
        'workers: a server with two workers on LMDB',
        'postgresql: three servers on PostgreSQL',
        'failover: the same, while the primary is lost for good',
        'etcd: three servers on three members of etcd',
      ].join('\n'),
    },
    { word: '--faults=yes|no', text: 'Whether anything goes wrong meanwhile. Default: yes.' },
  ],
};

/** The arguments of `npm run consistency [-- --seconds=60 --only=NAME --faults=no]`. @throws WrongArgument */
export function consistencyArguments(words: readonly string[]): ConsistencyArguments {
  const { seconds = '60', only, faults = 'yes' } = flagsIn(words, ['seconds', 'only', 'faults'], COMMAND);
  return {
    seconds: amountIn('--seconds', seconds, { most: MOST_SECONDS, example: 60 }),
    only: only === undefined ? undefined : nameIn('--only', only, SET_UP_NAMES),
    faults: nameIn('--faults', faults, ['yes', 'no']) === 'yes',
  };
}
