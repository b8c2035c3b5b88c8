import { isGroup } from './command.ts';
import type { Command, CommandGroup, CommandNode, Example } from './command.ts';
import type { Flag, Flags } from './flag.ts';
import { connectionFlags, outputFlags } from './global-flags.ts';
import { verbs } from './table.ts';

function wrapText(text: string, indent: string, columns = 80): string {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && indent.length + line.length + 1 + word.length > columns) {
        lines.push(indent + line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line === '' ? '' : indent + line);
  }
  return lines.join('\n');
}

/** How a flag is typed: `-ttl=<duration>`, or just `-force`. */
export function flagUsage(name: string, flag: Flag): string {
  if (flag.kind === 'toggle' || flag.kind === 'boolean') return flag.fallback === true ? `-${name}=<bool>` : `-${name}`;
  return `-${name}=<${flag.choices?.join('|') ?? flag.placeholder}>`;
}

/** The flag's description, with its default and other variants. */
export function flagText(flag: Flag): string {
  const aliases = flag.aliases.length === 0 ? '' : ` Also ${flag.aliases.map((alias) => `-${alias}`).join(', ')}.`;
  return `${flag.description}${flag.fallback === true ? ' Default: true.' : ''}${aliases}`;
}

function flagSection(title: string, flags: Flags): string {
  const entries = Object.entries(flags);
  if (entries.length === 0) return '';
  const blocks = entries.map(([name, flag]) => `  ${flagUsage(name, flag)}\n${wrapText(flagText(flag), '      ')}`);
  return `${title}:\n\n${blocks.join('\n\n')}\n`;
}

function exampleSection(examples: readonly Example[]): string {
  return examples.map(({ text, command }) => `${wrapText(text, '  ')}\n\n      $ strongroom ${command}\n`).join('\n');
}

function commandList(items: readonly { name: string; synopsis: string }[]): string {
  const longest = Math.max(...items.map(({ name }) => name.length));
  return items.map(({ name, synopsis }) => `    ${name.padEnd(longest)}    ${synopsis}`).join('\n');
}

/** The page of `strongroom` itself. */
export function rootHelp(): string {
  return [
    'Usage: strongroom <command> [args]\n',
    'Common commands:',
    `${commandList(verbs.filter((verb) => verb.common === true))}\n`,
    'Other commands:',
    `${commandList(verbs.filter((verb) => verb.common !== true))}\n`,
    'Run "strongroom <command> -help" for the words and flags of one of them.',
  ].join('\n');
}

function groupHelp(path: string, group: CommandGroup): string {
  return [
    `Usage: strongroom ${path} <subcommand> [options] [args]\n`,
    `${wrapText(group.description ?? `${group.synopsis}.`, '  ')}\n`,
    ...(group.examples === undefined ? [] : [exampleSection(group.examples)]),
    'Subcommands:',
    commandList(group.subcommands),
  ].join('\n');
}

function commandHelp(path: string, command: Command): string {
  return [
    `Usage: strongroom ${[path, '[options]', ...command.args].join(' ')}\n`,
    `${wrapText(command.description ?? `${command.synopsis}.`, '  ')}\n`,
    exampleSection(command.examples),
    flagSection('Command Options', command.flags),
    ...(command.local === true ? [] : [flagSection('HTTP Options', connectionFlags)]),
    flagSection('Output Options', outputFlags),
  ]
    .filter((part) => part !== '')
    .join('\n')
    .trimEnd();
}

/** The page of a command or group; `path` is the words that lead to it. */
export function nodeHelp(path: readonly string[], node: CommandNode): string {
  return isGroup(node) ? groupHelp(path.join(' '), node) : commandHelp(path.join(' '), node);
}
