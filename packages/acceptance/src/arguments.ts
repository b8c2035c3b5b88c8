import { parseArgs } from 'node:util';

/** An argument of a command that cannot be what is meant. Its message names the argument, and says what would be right. */
export class WrongArgument extends Error {
  override readonly name = 'WrongArgument';
}

/** `--help` or `-h`, with or without a value. Its message says what the command takes. */
class HelpAsked extends Error {
  override readonly name = 'HelpAsked';
}

/** @throws HelpAsked with `usage` where one of the words asks for it */
function offerHelp(words: readonly string[], usage: string): void {
  if (words.some((word) => /^(--help|-h)(=|$)/i.test(word))) throw new HelpAsked(usage);
}

/** Numbers that an argument may be. */
export interface NumberBounds {
  readonly most?: number;
  /** One that would be right. */
  readonly example: number;
}

/** What a number may be where nothing else is said: more is a slip of the finger. */
const MOST = 1_000_000_000;

/** @throws WrongArgument for a number that nobody can mean */
function requireModest(argument: string, text: string, number: number): void {
  if (number > MOST) throw new WrongArgument(`${argument}: ${text} is too large: at most ${MOST}`);
}

/** @throws WrongArgument unless the text is a whole number of at least 1, in digits alone */
export function countIn(argument: string, text: string, { most, example }: NumberBounds): number {
  const count = /^[1-9]\d*$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= (most ?? MOST)) return count;
  if (most === undefined) requireModest(argument, text, count);
  const range = most === undefined ? 'of at least 1' : `from 1 to ${most}`;
  throw new WrongArgument(`${argument}: ${JSON.stringify(text)} is not a whole number ${range}, such as ${example}`);
}

/** @throws WrongArgument unless the text is a number above 0, in digits with at most one point */
export function amountIn(argument: string, text: string, { most, example }: NumberBounds): number {
  const amount = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (amount > 0 && amount <= (most ?? MOST)) return amount;
  if (most === undefined) requireModest(argument, text, amount);
  const range = most === undefined ? 'above 0' : `above 0 and at most ${most}`;
  throw new WrongArgument(`${argument}: ${JSON.stringify(text)} is not a number ${range}, such as ${example}`);
}

/** @throws WrongArgument unless the text is one of the names */
export function nameIn<Name extends string>(argument: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  throw new WrongArgument(`${argument}: ${JSON.stringify(text)} is not one of ${names.join(', ')}`);
}

/** @throws WrongArgument for a flag, and for more than `most` words, which the command, in the form `usage`, does not take */
export function requireWords(words: readonly string[], most: number, usage: string): void {
  offerHelp(words, usage);
  const flag = words.find((word) => word.startsWith('--'));
  if (flag !== undefined) throw new WrongArgument(`${flag} is a flag, and there are none: ${usage}`);
  const more = words.slice(most).map((word) => JSON.stringify(word));
  if (more.length > 0) throw new WrongArgument(`${more.join(', ')}: too many arguments: ${usage}`);
}

/** The values of arguments of the form `--name=value` or `--name value`. `usage`: the form of the command. @throws WrongArgument for any other */
export function flagsIn<Name extends string>(
  words: readonly string[],
  names: readonly Name[],
  usage: string,
): Readonly<Partial<Record<Name, string>>> {
  offerHelp(words, usage);
  const known = `the flags are ${names.map((name) => `--${name}=…`).join(' ')}`;
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true });
  const surplus = tokens.flatMap((token) => (token.kind === 'positional' ? [JSON.stringify(token.value)] : []));
  if (surplus.length > 0) throw new WrongArgument(`${surplus.join(', ')}: not a flag; ${known}`);
  const flags: Partial<Record<Name, string>> = {};
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { rawName, value } = token;
    const name = names.find((one) => one === token.name);
    if (name === undefined) throw new WrongArgument(`${rawName} is not a flag; ${known}`);
    if (value === undefined || value === '') throw new WrongArgument(`${rawName} needs a value: ${rawName}=…`);
    if (flags[name] !== undefined) throw new WrongArgument(`${rawName} is given more than once`);
    flags[name] = value;
  }
  return flags;
}

/** What `read` returns. Where an argument is wrong, the process says why on stderr, and ends with code 2; where help is asked for, it prints that, and ends with 0. */
export function orRefuse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return refuse(error);
  }
}

/** Says on stderr what is wrong with an argument, and ends the process with code 2; prints the help that was asked for. @throws what is neither */
export function refuse(error: unknown): never {
  if (error instanceof HelpAsked) {
    process.stdout.write(`${error.message}\n`);
    process.exit(0);
  }
  if (!(error instanceof WrongArgument)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}
