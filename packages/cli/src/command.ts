import type { Invocation } from './invocation.ts';
import type { Flags, FlagValues } from './flag.ts';
import type { WordSource } from './word-sources.ts';

/** What it does, and the words to type after `strongroom`. */
export interface Example {
  readonly text: string;
  readonly command: string;
}

/** A command that does something. Parsing, help, completion and the reference page all read this one value. */
export interface Command<F extends Flags = Flags> {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line, for lists of commands. */
  readonly synopsis: string;
  /** More than the synopsis, for the command's own page. */
  readonly description?: string;
  /** Positional words: `PATH` is required, `[PATH]` optional, a trailing `...` takes any number. */
  readonly args: readonly string[];
  /** What words of `args` name, where their names do not say it: shells complete them so. */
  readonly words?: Readonly<Record<string, WordSource>>;
  readonly flags: F;
  /** Talks to no server, so takes no flags about one. */
  readonly local?: true;
  readonly examples: readonly Example[];
  /** Answers the exit code; undefined is 0. */
  run(invocation: Invocation<FlagValues<F>>): Promise<number | undefined | void>;
}

/** A word that only groups commands: `kv`, `operator`. */
export interface CommandGroup {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly synopsis: string;
  readonly description?: string;
  readonly examples?: readonly Example[];
  readonly subcommands: readonly CommandNode[];
}

export type CommandNode = Command | CommandGroup;

/** Keeps the flags' types for `run`, then forgets them so that commands of different shapes fit one table. */
export function defineCommand<F extends Flags>(command: Command<F>): Command {
  return command as Command;
}

export function isGroup(node: CommandNode): node is CommandGroup {
  return 'subcommands' in node;
}

/** How many positional words a command takes, read from its declared `args`. */
export function argumentRange(args: readonly string[]): { readonly least: number; readonly most: number } {
  const required = args.filter((word) => !word.startsWith('['));
  const unlimited = args.some((word) => word.includes('...'));
  return { least: required.length, most: unlimited ? Infinity : args.length };
}
