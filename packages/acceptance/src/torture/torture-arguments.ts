import { countIn, nameIn, requireWords } from '../arguments.ts';

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

const USAGE = `npm run torture [-- KILLS [PART]]; PART is one of ${PARTS.join(', ')}`;

/** The arguments of `npm run torture [-- KILLS [PART]]`. @throws WrongArgument */
export function tortureArguments(words: readonly string[]): TortureArguments {
  requireWords(words, 2, USAGE);
  const [kills = '200', part] = words;
  return { kills: countIn('KILLS', kills, { example: 200 }), only: part === undefined ? undefined : nameIn('PART', part, PARTS) };
}
