import type { Flag, Flags } from './flag.ts';
import { parseDuration } from './duration.ts';
import { Failure } from './failure.ts';
import { closest, didYouMean } from './suggest.ts';

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** A word that can only be a flag: `-x`, `--x`, `-x=1`. A lone `-` means standard input and is a positional word. */
export function looksLikeFlag(word: string): boolean {
  return word.length > 1 && word.startsWith('-') && word !== '--';
}

/** Splits `--name=value` into its parts; the value is undefined without `=`. */
export function splitFlag(word: string): { name: string; value: string | undefined } {
  const body = word.replace(/^--?/, '');
  const equals = body.indexOf('=');
  return equals < 0 ? { name: body, value: undefined } : { name: body.slice(0, equals), value: body.slice(equals + 1) };
}

export function takesValue(flag: Flag): boolean {
  return flag.kind !== 'boolean' && flag.kind !== 'toggle';
}

/** Finds a flag by its name or one of its aliases. */
export function findFlag(flags: Flags, name: string): { name: string; flag: Flag } | undefined {
  const direct = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (direct !== undefined) return { name, flag: direct };
  for (const [canonical, flag] of Object.entries(flags)) {
    if (flag.aliases.includes(name)) return { name: canonical, flag };
  }
  return undefined;
}

/** Reads a boolean as Go's strconv does; undefined when it is not one. */
export function parseBoolean(text: string): boolean | undefined {
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : undefined;
}

function convert(name: string, flag: Flag, text: string): unknown {
  if (flag.choices !== undefined && !flag.choices.includes(text)) {
    throw new Failure(`Invalid value "${text}" for flag -${name}: expected one of ${flag.choices.join(', ')}`);
  }
  switch (flag.kind) {
    case 'boolean':
    case 'toggle': {
      const value = parseBoolean(text);
      if (value === undefined) throw new Failure(`Invalid boolean value "${text}" for flag -${name}`);
      return value;
    }
    case 'integer':
      if (!/^[+-]?\d+$/.test(text)) throw new Failure(`Invalid value "${text}" for flag -${name}: expected a whole number`);
      return Number(text);
    case 'duration': {
      const seconds = parseDuration(text);
      if (seconds === undefined) {
        throw new Failure(`Invalid value "${text}" for flag -${name}: expected seconds or a duration such as 90m or 24h`);
      }
      return seconds;
    }
    default:
      return text;
  }
}

function collect(name: string, flag: Flag, text: string, before: unknown): unknown {
  const value = convert(name, flag, text);
  if (flag.kind === 'list') return [...((before as readonly string[] | undefined) ?? []), value];
  if (flag.kind !== 'map') return value;
  const equals = text.indexOf('=');
  if (equals < 1) throw new Failure(`Invalid value "${text}" for flag -${name}: expected key=value`);
  return { ...(before as Record<string, string> | undefined), [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** The outcome of parsing: every declared flag has a value, `given` names those that the user typed. */
export interface ParsedFlags {
  readonly values: Readonly<Record<string, unknown>>;
  readonly given: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/**
 * Sorts words into flags and positionals, in any order: `-name=value`, `-name value`, `--name`, a bare boolean.
 * After `--` every word is positional. Throws a Failure that names an unknown flag, and the ones near it.
 */
export function parseFlags(words: readonly string[], flags: Flags): ParsedFlags {
  const typed = new Map<string, unknown>();
  const positionals: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (word === '--') {
      positionals.push(...words.slice(index + 1));
      break;
    }
    if (!looksLikeFlag(word)) {
      positionals.push(word);
      continue;
    }
    const { name: written, value } = splitFlag(word);
    const found = findFlag(flags, written);
    if (found === undefined) {
      throw new Failure(`Unknown flag: -${written}.${didYouMean(closest(written, Object.keys(flags)).map((name) => `-${name}`))}`);
    }
    let text = value;
    if (text === undefined && takesValue(found.flag)) {
      index += 1;
      text = words[index];
      if (text === undefined) throw new Failure(`Flag -${written} needs a value: -${written}=<${found.flag.placeholder}>`);
    }
    typed.set(found.name, collect(found.name, found.flag, text ?? 'true', typed.get(found.name)));
  }
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(flags)) values[name] = typed.has(name) ? typed.get(name) : flag.fallback;
  return { values, given: new Set(typed.keys()), positionals };
}
