import { JsonReader, NO_JSON_LIMITS, type JsonLimits } from './json-reader.ts';

/** Reads a text at once, with exact numbers. For texts of this program's own making, or short ones. @throws JsonFault, JsonTooComplex */
export function readJson(text: Buffer | string, limits: JsonLimits = NO_JSON_LIMITS): unknown {
  const reader = new JsonReader(text, limits);
  while (!reader.step(Infinity));
  return reader.value;
}

/** Reads what `writeStoredJson` wrote. @throws SyntaxError, JsonFault for anything else */
export function readStoredJson(text: Buffer | string): unknown {
  const exact = typeof text === 'string' ? text.startsWith(' ') : text[0] === 0x20;
  return exact ? readJson(text) : (JSON.parse(text.toString()) as unknown);
}
