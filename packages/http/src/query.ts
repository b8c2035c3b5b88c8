import { UNKNOWN_CALLER } from './body-limits.ts';
import { FormReader, TooManyValues, type Form } from './form-reader.ts';
import { Refusal } from './refusal.ts';

/**
 * Decodes the query of a request. It is short, and read before anybody knows the caller, so that its limit holds for all.
 * @throws Refusal (400) for broken percent-encoding, and for too many values
 */
export function parseQuery(text: string): Form {
  const reader = new FormReader(text, { what: 'the query', maxValues: UNKNOWN_CALLER.maxValues });
  try {
    reader.step(Infinity);
  } catch (error) {
    if (!(error instanceof TooManyValues)) throw error;
    throw new Refusal(400, `the query has more than ${UNKNOWN_CALLER.maxValues} values`);
  }
  return reader.fields;
}

/** Go's rule of what is a boolean; undefined for anything else. */
export function parseBool(text: string): boolean | undefined {
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text)) return true;
  if (/^(?:0|f|F|FALSE|false|False)$/.test(text)) return false;
  return undefined;
}

/** The first of several; empty if the field is missing. */
export function firstOf(value: string | string[] | undefined): string {
  return (typeof value === 'string' ? value : value?.[0]) ?? '';
}
