import { canonical, isNothing, isRecord, type JsonRecord } from './json.ts';

/** The command that writes the fields to the path, and reads `secret` from standard input. Without secrets of its own. */
export function writeCommand(path: string, fields: JsonRecord, secret?: string): string {
  const words = Object.entries(fields)
    .filter(([, value]) => !isNothing(value))
    .flatMap(([key, value]) => (Array.isArray(value) ? value.map((item) => `${key}=${textOf(item)}`) : [`${key}=${textOf(value)}`]));
  return ['strongroom', 'write', path, ...words, ...(secret === undefined ? [] : [`${secret}=-`])].map(quoted).join(' ');
}

function textOf(value: unknown): string {
  return isRecord(value) || Array.isArray(value) ? canonical(value) : String(value);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./*-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
