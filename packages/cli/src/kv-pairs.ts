import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Failure } from './failure.ts';
import { readAll } from './input.ts';
import { isRecord, parseJson } from './json.ts';

async function fileText(name: string): Promise<string> {
  try {
    return await readFile(name, 'utf8');
  } catch (error) {
    throw new Failure(`error reading file: ${(error as Error).message}`);
  }
}

function object(text: string, source: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    throw new Failure(`${source} is not valid JSON`);
  }
  if (!isRecord(parsed)) throw new Failure(`${source} must hold a JSON object`);
  return parsed;
}

/**
 * Builds the data of a request from the words after the path: `key=value`, `key=@file`, `key=-` (standard input),
 * `@file.json`, and `-` (JSON on standard input). A key given twice becomes a list; `\@` keeps a leading `@`.
 */
export async function parsePairs(words: readonly string[], stdin: Readable): Promise<Record<string, unknown>> {
  const data: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const several = new Set<string>();
  let stdinUsed = false;
  const takeStdin = async (): Promise<string> => {
    if (stdinUsed) throw new Failure('standard input can be used for one value only');
    stdinUsed = true;
    return readAll(stdin);
  };
  const add = (key: string, value: unknown) => {
    if (!(key in data)) data[key] = value;
    else if (several.has(key)) (data[key] as unknown[]).push(value);
    else {
      data[key] = [data[key], value];
      several.add(key);
    }
  };
  for (const word of words) {
    if (word === '-') {
      for (const [key, value] of Object.entries(object(await takeStdin(), 'standard input'))) add(key, value);
      continue;
    }
    if (word.startsWith('@')) {
      const name = word.slice(1);
      for (const [key, value] of Object.entries(object(await fileText(name), name))) add(key, value);
      continue;
    }
    const equals = word.indexOf('=');
    if (equals < 1) throw new Failure(`invalid key/value pair "${word}": format must be key=value`);
    const key = word.slice(0, equals);
    const value = word.slice(equals + 1);
    if (value === '-') add(key, await takeStdin());
    else if (value.startsWith('@')) add(key, await fileText(value.slice(1)));
    else add(key, value.startsWith('\\@') || value === '\\-' ? value.slice(1) : value);
  }
  return { ...data };
}

/** Pairs for a query string: every value as text, lists repeated. */
export async function parseQuery(words: readonly string[], stdin: Readable): Promise<Record<string, string | readonly string[]>> {
  const pairs = await parsePairs(words, stdin);
  return Object.fromEntries(Object.entries(pairs).map(([key, value]) => [key, Array.isArray(value) ? value.map(String) : String(value)]));
}
