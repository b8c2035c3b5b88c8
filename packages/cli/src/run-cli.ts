import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from './client.ts';
import { argumentRange, isGroup } from './command.ts';
import type { Command, CommandNode } from './command.ts';
import type { Flags } from './flag.ts';
import { setting } from './environment.ts';
import { EXIT, Failure } from './failure.ts';
import { findFlag, looksLikeFlag, parseFlags, splitFlag, takesValue } from './flag-parser.ts';
import { globalFlags, outputFlags } from './global-flags.ts';
import type { GlobalOptions } from './global-flags.ts';
import type { Invocation } from './invocation.ts';
import type { CliIo } from './cli-io.ts';
import type { Format } from './output.ts';
import { Output } from './output.ts';
import { closest, didYouMean } from './suggest.ts';
import { verbs } from './table.ts';

interface Resolved {
  /** The words that name the command, as declared. */
  readonly path: readonly string[];
  readonly node: CommandNode | undefined;
  /** The other words, in their order. */
  readonly rest: readonly string[];
}

const HELP = new Set(['-h', '-help', '--help']);
const VERSION = new Set(['-v', '-version', '--version']);

function everyFlag(node: CommandNode | undefined): Flags {
  if (node === undefined) return {};
  return isGroup(node) ? (Object.assign({}, ...node.subcommands.map(everyFlag)) as Flags) : node.flags;
}

/** Walks down to the command that the words name, stepping over flags and their values on the way. */
async function resolve(argv: readonly string[]): Promise<Resolved> {
  const path: string[] = [];
  const rest: string[] = [];
  let node: CommandNode | undefined;
  let index = 0;
  for (; index < argv.length; index++) {
    if (node !== undefined && !isGroup(node)) break;
    const word = argv[index] ?? '';
    if (looksLikeFlag(word)) {
      rest.push(word);
      const { name, value } = splitFlag(word);
      const found = findFlag({ ...everyFlag(node), ...globalFlags }, name);
      if (found !== undefined && value === undefined && takesValue(found.flag) && index + 1 < argv.length) rest.push(argv[++index] ?? '');
      continue;
    }
    const next: CommandNode | undefined =
      node === undefined
        ? await verbs.find((verb) => verb.name === word)?.load()
        : node.subcommands.find((child) => child.name === word || child.aliases?.includes(word) === true);
    if (next === undefined) throw unknown(word, path, node);
    path.push(next.name);
    node = next;
  }
  return { path, node, rest: [...rest, ...argv.slice(index)] };
}

function unknown(word: string, path: readonly string[], node: CommandNode | undefined): Failure {
  const known = node !== undefined && isGroup(node) ? node.subcommands.map((child) => child.name) : verbs.map((verb) => verb.name);
  const where = path.length === 0 ? '' : ` of "strongroom ${path.join(' ')}"`;
  const help = `Run "strongroom ${[...path, '-help'].join(' ')}" for a list.`;
  return new Failure(
    `Unknown ${path.length === 0 ? 'command' : 'subcommand'} "${word}"${where}.${didYouMean(closest(word, known))}\n${help}`,
  );
}

function checkCount(args: readonly string[], command: Command, path: readonly string[]): void {
  const { least, most } = argumentRange(command.args);
  const expected = least === most ? String(least) : most === Infinity ? `${least}+` : `${least}-${most}`;
  const usage = `\nUsage: strongroom ${[...path, '[options]', ...command.args].join(' ')}`;
  if (args.length < least) throw new Failure(`Not enough arguments (expected ${expected}, got ${args.length})${usage}`);
  if (args.length > most) throw new Failure(`Too many arguments (expected ${expected}, got ${args.length})${usage}`);
}

function chooseFormat(options: GlobalOptions, io: CliIo): Format {
  const text = options.format ?? setting(io.env, 'FORMAT') ?? 'table';
  if (text !== 'table' && text !== 'json' && text !== 'yaml' && text !== 'raw') {
    throw new Failure(`Invalid output format "${text}" in the environment variable FORMAT: expected table, json, yaml or raw`);
  }
  return text;
}

async function openClient(options: GlobalOptions, io: CliIo, sleep: Invocation['sleep']): Promise<ApiClient> {
  const [{ ApiClient }, { readConnection }, { findToken }] = await Promise.all([
    import('./client.ts'),
    import('./connection.ts'),
    import('./token-store.ts'),
  ]);
  const describe = options['output-curl-string'] ? 'curl' : options['output-policy'] ? 'policy' : undefined;
  return new ApiClient({ connection: readConnection(options, io.env), token: findToken(io.env), describe, sleep });
}

async function execute(command: Command, path: readonly string[], words: readonly string[], io: CliIo): Promise<number> {
  const parsed = parseFlags(words, { ...(command.local === true ? outputFlags : globalFlags), ...command.flags });
  checkCount(parsed.positionals, command, path);
  const options = parsed.values as GlobalOptions;
  const out = new Output(io, options, chooseFormat(options, io));
  const sleep = io.sleep ?? ((milliseconds: number, signal?: AbortSignal) => delay(milliseconds, undefined, signal ? { signal } : {}));
  const client = command.local === true ? undefined : await openClient(options, io, sleep);
  try {
    const code = await command.run({
      args: parsed.positionals,
      flags: parsed.values,
      given: parsed.given,
      options,
      io,
      out,
      sleep,
      client() {
        if (client === undefined) throw new Error(`"${path.join(' ')}" is declared local but asks for a client`);
        return client;
      },
      async ask(question, missing) {
        if (!io.isTty || options['non-interactive']) throw new Failure(missing);
        const { readHiddenLine } = await import('./input.ts');
        const line = await readHiddenLine(io.stdin, () => void io.stderr.write(question));
        io.stderr.write('\n');
        return line.trim();
      },
    });
    return code ?? EXIT.ok;
  } finally {
    await client?.close();
  }
}

async function dispatch(argv: readonly string[], io: CliIo): Promise<number> {
  const end = argv.indexOf('--');
  const options = end < 0 ? argv : argv.slice(0, end);
  if (argv.length === 1 && VERSION.has(argv[0] ?? '')) return dispatch(['version'], io);
  if (argv[0] === '__complete') {
    const { complete } = await import('./complete.ts');
    for (const word of await complete(argv.slice(1), io)) io.stdout.write(`${word}\n`);
    return EXIT.ok;
  }
  const asked = argv[0] === 'help' || options.some((word) => HELP.has(word));
  const words = asked ? argv.filter((word, index) => !HELP.has(word) && !(index === 0 && word === 'help')) : argv;
  const { path, node, rest } = await resolve(words);
  if (asked || node === undefined || isGroup(node)) {
    const { nodeHelp, rootHelp } = await import('./help.ts');
    const page = node === undefined ? rootHelp() : nodeHelp(path, node);
    (asked ? io.stdout : io.stderr).write(`${page}\n`);
    return asked ? EXIT.ok : EXIT.local;
  }
  return execute(node, path, rest, io);
}

/**
 * Runs one command line and answers its exit code: 0 done, 1 a mistake on this side, 2 the server's refusal or silence.
 * Never throws, and never ends the process.
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    if (error instanceof Error && error.name === 'Described') {
      io.stdout.write(`${(error as Error & { text: string }).text}\n`);
      return EXIT.ok;
    }
    const quiet = argv.includes('-no-color') || argv.includes('--no-color');
    const out = new Output(io, { field: undefined, 'no-color': quiet }, 'table');
    out.error(error instanceof Error ? error.message : String(error));
    return error instanceof Failure ? error.exitCode : EXIT.local;
  }
}
