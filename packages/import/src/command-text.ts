import { canonical, isNothing, isRecord, type JsonRecord } from './json.ts';

/** The command that writes the fields to the path, and reads `secret` from standard input. Without secrets of its own. */
export function writeCommand(path: string, fields: JsonRecord, secret?: string): string {
  return commandText(['strongroom', 'write', path, ...fieldWords(fields), ...(secret === undefined ? [] : [`${secret}=-`])]);
}

/** Fields as words of the form key=value. What a shell command would read from a file or from standard input stays a text. */
export function fieldWords(fields: JsonRecord): string[] {
  return Object.entries(fields)
    .filter(([, value]) => !isNothing(value))
    .flatMap(([key, value]) => (Array.isArray(value) ? value : [value]).map((item) => `${key}=${literal(textOf(item))}`));
}

/** Words as a line for a shell. */
export function commandText(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

/** The command line reads `@file` and `-` instead of taking them as texts. */
function literal(text: string): string {
  return text.startsWith('@') || text === '-' ? `\\${text}` : text;
}

function textOf(value: unknown): string {
  return isRecord(value) || Array.isArray(value) ? canonical(value) : String(value);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./*-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
