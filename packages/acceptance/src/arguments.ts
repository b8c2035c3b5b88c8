import { parseArgs } from 'node:util';

/** An argument of a command that cannot be what is meant. Its message names the argument, and says what would be right. */
export class WrongArgument extends Error {
  override readonly name = 'WrongArgument';
}

/** `--help` or `-h`, with or without a value. Its message says what the command takes. */
class HelpAsked extends Error {
  override readonly name = 'HelpAsked';
}

/** What a command does and takes. */
export interface Command {
  /** Such as `npm run fuzz [-- SECONDS [SEED]]`. */
  readonly form: string;
  /** What it does, in whole sentences. */
  readonly about: string;
  /** What each word or flag means, with its default. */
  readonly takes: readonly Taken[];
}

/** Such as `--seconds=NUMBER` or `SECONDS`. Lines of the text are broken where it is. */
export interface Taken {
  readonly word: string;
  readonly text: string;
}

/** @throws HelpAsked where one of the words asks for it */
function offerHelp(words: readonly string[], { form, about, takes }: Command): void {
  if (!words.some((word) => /^(--help|-h)(=|$)/i.test(word))) return;
  const width = Math.max(...takes.map(({ word }) => word.length)) + 4;
  const rows = takes.map(({ word, text }) => `  ${word.padEnd(width - 2)}${text.replaceAll('\n', `\n${' '.repeat(width)}`)}`);
  throw new HelpAsked([form, '', about, '', ...rows].join('\n'));
}

/** Numbers that an argument may be. */
export interface NumberBounds {
  /** More is a slip of the finger. */
  readonly most: number;
  /** One that would be right. */
  readonly example: number;
}

/** @throws WrongArgument unless the text is a whole number of at least 1, in digits alone */
export function countIn(argument: string, text: string, { most, example }: NumberBounds): number {
  const count = /^[1-9]\d*$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw new WrongArgument(`${argument}: ${JSON.stringify(text)} is not a whole number from 1 to ${most}, such as ${example}`);
}

/** @throws WrongArgument unless the text is a number above 0, in digits with at most one point */
export function amountIn(argument: string, text: string, { most, example }: NumberBounds): number {
  const amount = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (amount > 0 && amount <= most) return amount;
  throw new WrongArgument(`${argument}: ${JSON.stringify(text)} is not a number above 0 and at most ${most}, such as ${example}`);
}

/** @throws WrongArgument unless the text is one of the names */
export function nameIn<Name extends string>(argument: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  throw new WrongArgument(`${argument}: ${JSON.stringify(text)} is not one of ${names.join(', ')}`);
}

/** @throws WrongArgument for a flag, and for more words than the command takes */
export function requireWords(words: readonly string[], command: Command): void {
  offerHelp(words, command);
  const { form, takes } = command;
  const flag = words.find((word) => word.startsWith('--'));
  if (flag !== undefined) throw new WrongArgument(`${flag} is not a flag; the only one is --help: ${form}`);
  const more = words.slice(takes.length).map((word) => JSON.stringify(word));
  if (more.length > 0) throw new WrongArgument(`${more.join(', ')}: too many arguments: ${form}`);
}

/** The values of arguments of the form `--name=value` or `--name value`. `names`: those that the command takes. @throws WrongArgument for any other */
export function flagsIn<Name extends string>(
  words: readonly string[],
  names: readonly Name[],
  command: Command,
): Readonly<Partial<Record<Name, string>>> {
  offerHelp(words, command);
  const known = `the flags are ${names.map((name) => `--${name}=…`).join(' ')}`;
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true });
  const surplus = tokens.flatMap((token) => (token.kind === 'positional' ? [JSON.stringify(token.value)] : []));
  if (surplus.length > 0)
    throw new WrongArgument(`${surplus.join(', ')} ${surplus.length > 1 ? 'are not flags' : 'is not a flag'}; ${known}`);
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

/**
 * What `read` returns. Where an argument of `npm run <script>` is wrong, the process says why on stderr, and ends with code 2; where help is asked for, it prints that, and
 * ends with 0.
 */
export function orRefuse<T>(script: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    return refuse(script, error);
  }
}

/** Says on stderr what is wrong with an argument, and ends the process with code 2; prints the help that was asked for. @throws what is neither */
export function refuse(script: string, error: unknown): never {
  if (error instanceof HelpAsked) {
    process.stdout.write(`${error.message}\n`);
    process.exit(0);
  }
  if (!(error instanceof WrongArgument)) throw error;
  process.stderr.write(`${error.message}\nTo see all arguments, run: npm run ${script} -- --help\n`);
  process.exit(2);
}
