import { refuseComplexJson, type JsonLimits } from './json-complexity.ts';
import { scanFirstValue } from './json-scanner.ts';
import { parseQuery } from './query.ts';
import { Refusal } from './refusal.ts';

export type RequestData = Record<string, unknown>;

/**
 * The fields of a body: a JSON object whatever the content type says, or a form. Undefined for an empty body and for `null`. What
 * follows the first JSON value is ignored.
 * @throws Refusal (400)
 */
export function decodeBody(body: string, contentType: string | undefined, limits: JsonLimits): RequestData | undefined {
  if (body === '') return undefined;
  const isForm = contentType !== undefined && mediaTypeOf(contentType) === 'application/x-www-form-urlencoded';
  if (isForm && !/^\s*[{[]/.test(body)) return formOf(body);
  refuseComplexJson(body, limits);
  return fieldsOf(parseFirstValue(body));
}

/** `application/json; charset=utf-8` is `application/json`. */
export function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

/** A word that is no pair would become the name of a field, and names are written down in clear: it may be a secret that somebody sent alone. */
function formOf(body: string): RequestData {
  if (body.split('&').some((pair) => pair !== '' && !pair.includes('=')))
    throw new Refusal(400, 'the form in the body must be made of name=value pairs; JSON begins with {');
  return parseQuery(body, 'the form in the body');
}

/** What somebody else's middleware made of a body. @throws Refusal (400) for what is no object */
export function fieldsOf(value: unknown): RequestData | undefined {
  if (value === null || value === undefined) return undefined;
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  if (kind !== 'object') throw undecodable(`json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`);
  return value as RequestData;
}

function parseFirstValue(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    const first = scanFirstValue(body);
    if ('end' in first) return JSON.parse(body.slice(0, first.end)) as unknown;
    if (first.fault === 'EOF') return undefined;
    throw undecodable(first.fault);
  }
}

function undecodable(fault: string): Refusal {
  return new Refusal(400, `failed to decode JSON input: ${fault}`);
}
