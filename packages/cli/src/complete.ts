import type { CliIo } from './cli-io.ts';
import { isGroup, type Command, type CommandNode } from './command.ts';
import type { Flags } from './flag.ts';
import { findFlag, looksLikeFlag, parseFlags, splitFlag, takesValue } from './flag-parser.ts';
import { globalFlags, type GlobalOptions } from './global-flags.ts';
import { verbs } from './table.ts';
import { SOURCES } from './word-sources.ts';

/** Seconds that a person waits for the server after a tab. */
const PATIENCE = 2;
/** A name that would change the line of the shell, or the terminal, is not offered. */
const UNSAFE = /[\p{Cc}\p{Cf}]/u;

/**
 * What may follow: `words` are those after `strongroom`, the last of them unfinished (possibly empty). Commands, flags and their values come from the
 * declarations; paths and names from the server, as far as it answers at once and lets the caller see them. Never throws.
 */
export async function complete(words: readonly string[], io: CliIo): Promise<string[]> {
  const last = words.at(-1) ?? '';
  const flagWords: string[] = [];
  let node: CommandNode | undefined;
  let positionals = 0;
  let awaited: string | undefined;
  for (const word of words.slice(0, -1)) {
    if (awaited !== undefined) {
      flagWords.push(word);
      awaited = undefined;
    } else if (looksLikeFlag(word)) {
      const { name, value } = splitFlag(word);
      const found = findFlag({ ...globalFlags, ...flagsOf(node) }, name);
      if (found !== undefined) flagWords.push(word);
      if (found !== undefined && value === undefined && takesValue(found.flag)) awaited = name;
    } else if (node === undefined) {
      node = await verbs.find((verb) => verb.name === word)?.load();
      if (node === undefined) return [];
    } else if (isGroup(node)) {
      node = node.subcommands.find((child) => child.name === word || child.aliases?.includes(word) === true);
      if (node === undefined) return [];
    } else positionals += 1;
  }
  const starting = (candidates: readonly string[], typed = last): string[] =>
    candidates.filter((candidate) => candidate.startsWith(typed) && !UNSAFE.test(candidate));
  const valuesOf = (name: string): readonly string[] => {
    const found = findFlag({ ...globalFlags, ...flagsOf(node) }, name)?.flag;
    return found?.choices ?? found?.suggestions ?? [];
  };
  if (awaited !== undefined) return starting(valuesOf(awaited));
  if (last.startsWith('-')) {
    const equals = last.indexOf('=');
    if (equals >= 0) {
      const lead = last.slice(0, equals + 1);
      return starting(valuesOf(splitFlag(last).name).map((value) => lead + value));
    }
    const dash = last.startsWith('--') ? '--' : '-';
    return starting(Object.keys({ ...flagsOf(node), ...globalFlags }).map((name) => dash + name));
  }
  if (node === undefined) return starting(verbs.map((verb) => verb.name));
  if (isGroup(node)) return starting(node.subcommands.map((child) => child.name));
  return starting(await positionalWords(node, positionals, last, flagWords, io).catch(() => []));
}

/** What the server knows of the word at this place. */
async function positionalWords(command: Command, index: number, typed: string, flagWords: readonly string[], io: CliIo): Promise<string[]> {
  const name = command.args[index]?.replace(/^\[|\]$/g, '');
  const source = name === undefined ? undefined : (command.words?.[name] ?? SOURCES[name]);
  if (source === undefined) return [];
  const { values } = parseFlags(flagWords, { ...globalFlags, ...command.flags });
  const [{ ApiClient }, { readConnection }, { findToken }, { wordsFor }] = await Promise.all([
    import('./client.ts'),
    import('./connection.ts'),
    import('./token-store.ts'),
    import('./word-sources.ts'),
  ]);
  const connection = { ...readConnection(values as GlobalOptions, io.env), wrapTtl: undefined, retries: 0, timeout: PATIENCE };
  const client = new ApiClient({ connection, token: findToken(io.env), describe: undefined, sleep: () => Promise.resolve() });
  const { mount } = values;
  try {
    return await wordsFor(source, typed, client, typeof mount === 'string' ? mount : undefined);
  } finally {
    await client.close();
  }
}

function flagsOf(node: CommandNode | undefined): Flags {
  return node === undefined || isGroup(node) ? {} : node.flags;
}
