import { BadRequest } from '@strongroom/engine-sdk';

const MOST_PAIRS = 64;
const LONGEST_KEY = 128;
const LONGEST_VALUE = 512;

/** The metadata of a secret id: a JSON object of texts, or `a=b,c=d`. @throws BadRequest */
export function parseMetadata(text: string): Record<string, string> {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  const pairs = trimmed.startsWith('{') ? jsonPairs(trimmed) : listedPairs(trimmed);
  if (pairs.length > MOST_PAIRS) throw wrong(`there are more than ${MOST_PAIRS} pairs`);
  for (const [key, value] of pairs) {
    if (Buffer.byteLength(key) > LONGEST_KEY) throw wrong(`a key is longer than ${LONGEST_KEY} bytes`);
    if (Buffer.byteLength(value) > LONGEST_VALUE) throw wrong(`the value of ${JSON.stringify(key)} is longer than ${LONGEST_VALUE} bytes`);
  }
  return Object.fromEntries(pairs);
}

function jsonPairs(text: string): [string, string][] {
  let object: object;
  try {
    object = JSON.parse(text) as object;
  } catch {
    throw wrong('failed to parse the input: it begins as a JSON object and is none');
  }
  return Object.entries(object).map(([key, value]: [string, unknown]) => {
    if (typeof value !== 'string') throw wrong(`the value of ${JSON.stringify(key)} is not a string`);
    return [key, value];
  });
}

function listedPairs(text: string): [string, string][] {
  return text.split(',').map((pair) => {
    const at = pair.indexOf('=');
    const key = pair.slice(0, Math.max(0, at)).trim();
    if (key === '') throw wrong('failed to parse the input: invalid <key,value> format');
    return [key, pair.slice(at + 1).trim()];
  });
}

function wrong(what: string): BadRequest {
  return new BadRequest(`failed to parse metadata: ${what}`);
}
