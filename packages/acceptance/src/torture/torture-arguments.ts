import { countIn, nameIn, requireWords, type Command } from '../arguments.ts';

/** The stores that mixed load is tortured on; `workers` is LMDB with two workers. */
export const CRASH_STORE_NAMES = ['lmdb', 'postgresql', 'etcd', 'workers'] as const;
export type CrashStoreName = (typeof CRASH_STORE_NAMES)[number];

const PARTS = ['stores', ...CRASH_STORE_NAMES, 'members', 'snapshots'] as const;
export type TorturePart = (typeof PARTS)[number];

export interface TortureArguments {
  readonly kills: number;
  /** Undefined for all parts. */
  readonly only: TorturePart | undefined;
}

const MOST_KILLS = 100_000;
const COMMAND: Command = {
  form: 'npm run torture [-- KILLS [PART]]',
  about: 'Kills a server at random moments while it works, starts it again, and checks that nothing that it acknowledged is lost.',
  takes: [
    { word: 'KILLS', text: `How often each part kills, at most ${MOST_KILLS}. Default: 200.` },
    {
      word: 'PART',
      text: [
        'The one part that runs. Default: all parts, and kills during changes of databases and directories.',
        'lmdb, postgresql, etcd: mixed load on that store',
        'workers: mixed load on LMDB with two workers',
        'stores: these four, one after the other',
        'members: load on etcd without a server, while members of etcd are killed, frozen and cut off',
        'snapshots: snapshots, restores and migrations',
      ].join('\n'),
    },
  ],
};

/** The arguments of `npm run torture [-- KILLS [PART]]`. @throws WrongArgument */
export function tortureArguments(words: readonly string[]): TortureArguments {
  requireWords(words, COMMAND);
  const [kills = '200', part] = words;
  return {
    kills: countIn('KILLS', kills, { most: MOST_KILLS, example: 200 }),
    only: part === undefined ? undefined : nameIn('PART', part, PARTS),
  };
}
