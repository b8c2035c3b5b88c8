import { isGroup } from './command.ts';
import type { CommandNode } from './command.ts';
import type { Flags } from './flag.ts';
import { findFlag, looksLikeFlag, splitFlag, takesValue } from './flag-parser.ts';
import { globalFlags } from './global-flags.ts';
import { verbs } from './table.ts';

/** What may follow: `words` are those after `strongroom`, the last of them unfinished (possibly empty). */
export async function complete(words: readonly string[]): Promise<string[]> {
  const last = words.at(-1) ?? '';
  let node: CommandNode | undefined;
  for (let index = 0; index < words.length - 1; index++) {
    const word = words[index] ?? '';
    if (looksLikeFlag(word)) {
      const { name, value } = splitFlag(word);
      const found = findFlag({ ...globalFlags, ...flagsOf(node) }, name);
      if (found !== undefined && value === undefined && takesValue(found.flag)) index += 1;
      continue;
    }
    if (node === undefined) node = await verbs.find((verb) => verb.name === word)?.load();
    else if (isGroup(node)) node = node.subcommands.find((child) => child.name === word || child.aliases?.includes(word) === true);
    if (node === undefined) return [];
  }
  const starting = (candidates: readonly string[]) => candidates.filter((candidate) => candidate.startsWith(last));
  if (last.startsWith('-')) {
    const dash = last.startsWith('--') ? '--' : '-';
    return starting(Object.keys({ ...flagsOf(node), ...globalFlags }).map((name) => dash + name));
  }
  if (node === undefined) return starting(verbs.map((verb) => verb.name));
  return isGroup(node) ? starting(node.subcommands.map((child) => child.name)) : [];
}

function flagsOf(node: CommandNode | undefined): Flags {
  return node === undefined || isGroup(node) ? {} : node.flags;
}
