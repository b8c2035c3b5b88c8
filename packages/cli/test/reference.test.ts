import { describe, expect, test } from '@jest/globals';
import { isGroup } from '../src/command.ts';
import type { Command, CommandNode } from '../src/command.ts';
import { globalFlags } from '../src/global-flags.ts';
import { parseFlags } from '../src/flag-parser.ts';
import { argumentRange } from '../src/command.ts';
import { renderCliReference } from '../src/index.ts';
import { verbs } from '../src/table.ts';

function commandsBelow(path: string, node: CommandNode): { path: string; command: Command }[] {
  return isGroup(node) ? node.subcommands.flatMap((child) => commandsBelow(`${path} ${child.name}`, child)) : [{ path, command: node }];
}

const everyCommand = async () => (await Promise.all(verbs.map(async (verb) => commandsBelow(verb.name, await verb.load())))).flat();

describe('the table of commands', () => {
  test('says of each verb what its declaration says', async () => {
    for (const verb of verbs) {
      const { name, synopsis } = await verb.load();
      expect({ name, synopsis }).toEqual({ name: verb.name, synopsis: verb.synopsis });
    }
  });

  test('no command has a flag that a global one already means', async () => {
    for (const { path, command } of await everyCommand()) {
      const names = Object.entries(command.flags).flatMap(([name, { aliases }]) => [name, ...aliases]);
      const globals = Object.entries(globalFlags).flatMap(([name, { aliases }]) => [name, ...aliases]);
      expect({ path, clash: names.filter((name) => globals.includes(name)) }).toEqual({ path, clash: [] });
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('every example parses as the command that it is an example of', async () => {
    for (const { path, command } of await everyCommand()) {
      expect({ path, examples: command.examples.length }).not.toEqual({ path, examples: 0 });
      for (const example of command.examples) {
        expect(`${example.command} `.startsWith(`${path} `)).toBe(true);
        const words = example.command
          .slice(path.length)
          .replace(/ >.*$/, '')
          .trim()
          .split(/\s+/)
          .filter((word) => word !== '');
        const { positionals } = parseFlags(words, { ...globalFlags, ...command.flags });
        const { least, most } = argumentRange(command.args);
        expect(positionals.length).toBeGreaterThanOrEqual(least);
        expect(positionals.length).toBeLessThanOrEqual(most);
      }
    }
  });

  test('the reference has a section for every command and a row for every flag', async () => {
    const page = await renderCliReference();
    for (const { path, command } of await everyCommand()) {
      expect(page).toContain(`# strongroom ${path}\n`);
      for (const name of Object.keys(command.flags)) expect(page).toContain(`| \`-${name}`);
    }
    for (const name of Object.keys(globalFlags)) expect(page).toContain(`| \`-${name}`);
  });
});
