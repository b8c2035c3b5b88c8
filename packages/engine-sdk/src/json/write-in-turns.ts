import { ExactNumber } from './exact-number.ts';

/** Characters of a long string that are written at a time. */
const PIECE = 65_536;
/** Characters that are gathered before they become bytes, and before others have a turn. */
const TURN = 262_144;
/** What a value costs beside its characters. */
const VALUE_COST = 16;

/** Characters of JSON that the value has at least, counted no further than just beyond `most`. */
export function leastJsonLength(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return 1;
  let length = 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && length <= most; index += 1) length += 1 + leastJsonLength(value[index], most - length);
    return length;
  }
  for (const key in value) {
    if (length > most) break;
    length += 1 + key.length + leastJsonLength((value as Record<string, unknown>)[key], most - length);
  }
  return length;
}

/**
 * The bytes that `writeStoredJson` gives for a value of JSON, made in turns: `breath` is awaited between them. The value must not change meanwhile.
 * For large values: it takes a few times as long.
 */
export async function writeStoredJsonInTurns(value: unknown, breath: () => Promise<void>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let gathered = holdsExactNumber(value) ? ' ' : '';
  let work = 0;
  for (const piece of pieces(value)) {
    gathered += piece;
    work += piece.length + VALUE_COST;
    if (work < TURN) continue;
    parts.push(Buffer.from(gathered));
    gathered = '';
    work = 0;
    await breath();
  }
  parts.push(Buffer.from(gathered));
  return Buffer.concat(parts);
}

function holdsExactNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof ExactNumber) return true;
  if (Array.isArray(value)) return value.some(holdsExactNumber);
  for (const key in value) if (holdsExactNumber((value as Record<string, unknown>)[key])) return true;
  return false;
}

function* pieces(value: unknown): Generator<string, void> {
  if (typeof value === 'string') yield* textPieces(value);
  else if (typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null';
  else if (value instanceof ExactNumber) yield value.text;
  else if (Array.isArray(value)) {
    yield '[';
    for (let index = 0; index < value.length; index += 1) {
      if (index > 0) yield ',';
      yield* pieces(value[index]);
    }
    yield ']';
  } else if (typeof (value as { toJSON?: unknown }).toJSON === 'function') yield* pieces((value as { toJSON(): unknown }).toJSON());
  else {
    let opened = '{';
    for (const key of Object.keys(value)) {
      const item = (value as Record<string, unknown>)[key];
      if (item === undefined || typeof item === 'function' || typeof item === 'symbol') continue;
      yield opened;
      yield* textPieces(key);
      yield ':';
      yield* pieces(item);
      opened = ',';
    }
    yield opened === '{' ? '{}' : '}';
  }
}

function* textPieces(text: string): Generator<string, void> {
  if (text.length <= PIECE) {
    yield JSON.stringify(text);
    return;
  }
  yield '"';
  for (let from = 0; from < text.length;) {
    let until = Math.min(from + PIECE, text.length);
    // Both halves of a character stay together.
    if (until < text.length && (text.charCodeAt(until - 1) & 0xfc00) === 0xd800) until += 1;
    yield JSON.stringify(text.slice(from, until)).slice(1, -1);
    from = until;
  }
  yield '"';
}
