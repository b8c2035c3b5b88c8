import { amountIn, countIn, requireWords, type Command } from '../arguments.ts';

export interface FuzzArguments {
  readonly seconds: number;
  /** Undefined for a random one. */
  readonly seed: number | undefined;
}

const MOST_SECONDS = 86_400;
const MOST_SEED = 2 ** 31 - 1;
const COMMAND: Command = {
  form: 'npm run fuzz [-- SECONDS [SEED]]',
  about:
    'Sends what the OpenAPI document allows and forbids to a server with every engine. Fails on an answer that the document does not have, and on a 5xx.',
  takes: [
    { word: 'SECONDS', text: `How long the run sends requests, at most ${MOST_SECONDS}. Default: 600.` },
    {
      word: 'SEED',
      text: `A number from 1 to ${MOST_SEED}. The same seed sends the same requests again. Default: a random one, which the run prints.`,
    },
  ],
};

/** The arguments of `npm run fuzz [-- SECONDS [SEED]]`. @throws WrongArgument */
export function fuzzArguments(words: readonly string[]): FuzzArguments {
  requireWords(words, COMMAND);
  const [seconds = '600', seed] = words;
  return {
    seconds: amountIn('SECONDS', seconds, { most: MOST_SECONDS, example: 600 }),
    seed: seed === undefined ? undefined : countIn('SEED', seed, { most: MOST_SEED, example: 7 }),
  };
}
