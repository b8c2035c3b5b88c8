import { isGroup } from './command.ts';
import type { Command, CommandNode } from './command.ts';
import type { Flags } from './flag.ts';
import { globalFlags } from './global-flags.ts';
import { flagText, flagUsage } from './help.ts';
import { verbs } from './table.ts';

const escape = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

function flagTable(flags: Flags): string[] {
  const rows = Object.entries(flags).map(
    ([name, flag]) => `| \`${flagUsage(name, flag).replaceAll('|', '\\|')}\` | ${escape(flagText(flag))} |`,
  );
  return rows.length === 0 ? [] : ['| Flag | Meaning |', '|---|---|', ...rows, ''];
}

function commandSection(path: string, depth: number, command: Command): string[] {
  return [
    `${'#'.repeat(depth)} strongroom ${path}`,
    '',
    command.description ?? `${command.synopsis}.`,
    '',
    '```',
    `strongroom ${[path, '[options]', ...command.args].join(' ')}`,
    '```',
    '',
    ...flagTable(command.flags),
    ...command.examples.flatMap(({ text, command: line }) => [text, '', '```', `$ strongroom ${line}`, '```', '']),
  ];
}

function section(path: readonly string[], node: CommandNode): string[] {
  const words = path.join(' ');
  const depth = path.length + 1;
  if (!isGroup(node)) return commandSection(words, depth, node);
  return [
    `${'#'.repeat(depth)} strongroom ${words}`,
    '',
    node.description ?? `${node.synopsis}.`,
    '',
    ...node.subcommands.flatMap((child) => section([...path, child.name], child)),
  ];
}

/** The whole command line as one markdown page, made from the same declarations that parse it. */
export async function renderCliReference(): Promise<string> {
  const lines = [
    '# Command line reference',
    '',
    'Made from the declarations of the commands; do not edit. Flags take one dash or two, `-flag=value` or `-flag value`, and may stand',
    'before or after the other words.',
    '',
    'Exit codes: 0 done, 1 a mistake on this side (usage, files), 2 the server refused, failed or was not reached, or has nothing there.',
    '',
    '## Global flags',
    '',
    ...flagTable(globalFlags),
  ];
  for (const verb of [...verbs].sort((a, b) => a.name.localeCompare(b.name))) lines.push(...section([verb.name], await verb.load()));
  return `${lines.join('\n').trimEnd()}\n`;
}
