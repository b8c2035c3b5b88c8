import { isPlainJson, JsonFault, JsonReader, JsonTooComplex, toFloats } from '@strongroom/engine-sdk';
import type { BodyLimits } from './body-limits.ts';
import { FormReader, TooManyValues } from './form-reader.ts';
import { Refusal } from './refusal.ts';
import type { Stepwise } from './turns.ts';

/** Bytes of a body that is read at once: less than a millisecond. */
export const SMALL_BODY = 16_384;

export type RequestData = Record<string, unknown>;

/** The fields of a body; both undefined for none. */
export interface DecodedBody {
  readonly data: RequestData | undefined;
  /** The same with exact numbers, where there are any. */
  readonly exactData: RequestData | undefined;
}

type Limit = 'maxDepth' | 'maxStrings' | 'maxValues';

const LIMIT_OF: Readonly<Record<string, Limit>> = {
  'nesting depth': 'maxDepth',
  'number of strings': 'maxStrings',
  'number of values': 'maxValues',
};

/** A body of more than a limit allows. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
  readonly #form: boolean;
  readonly #what: string;
  readonly #limit: number;

  constructor(cause: JsonTooComplex | TooManyValues) {
    super(cause.message, { cause });
    this.#form = cause instanceof TooManyValues;
    this.#what = cause instanceof TooManyValues ? 'number of values' : cause.what;
    this.#limit = cause.limit;
  }

  /** `known`: what a caller with a valid token may send; where that is more, the text says so. */
  refusal(known: BodyLimits): Refusal {
    const limit = LIMIT_OF[this.#what];
    const most = this.#form ? pairsOf(known) : limit === undefined ? this.#limit : known[limit];
    const raised = most > this.#limit ? ' for a caller without a valid token' : '';
    if (this.#form)
      return new Refusal(400, `the form in the body has more than ${this.#limit} values, the most${raised || ' there may be'}`);
    const bound = raised === '' ? '' : ` of ${this.#limit}${raised}`;
    return undecodable(`refused JSON input due to high complexity: exceeded maximum ${this.#what}${bound}`);
  }
}

/** Reads a body in turns; `body` is there once `step` has said so. */
export interface BodyDecoder extends Stepwise {
  /** Bytes that what was made of the body takes so far, about. */
  readonly memory: number;
  /** @throws Refusal (400) for what is no object */
  body(): DecodedBody;
}

/**
 * A body is a JSON object whatever the content type says, or a form. What follows the first JSON value is ignored; an empty body and `null` have no fields.
 * Its turns throw Refusal (400) and TooCostly.
 */
export function decoderOf(body: Buffer, contentType: string | undefined, limits: BodyLimits): BodyDecoder {
  return isForm(body, contentType) ? new FormDecoder(body.toString(), limits) : new JsonDecoder(body, limits);
}

/** The same at once, for a small body. @throws Refusal (400), TooCostly */
export function decodeSmallBody(body: Buffer, contentType: string | undefined, limits: BodyLimits): DecodedBody {
  if (body.length === 0) return NOTHING;
  if (!isForm(body, contentType)) {
    const text = body.toString();
    if (isPlainJson(text, limits)) {
      const parsed = parsedWhole(text);
      if (parsed) return { data: fieldsOf(parsed.value), exactData: undefined };
    }
  }
  const decoder = decoderOf(body, contentType, limits);
  while (!decoder.step(Infinity));
  return decoder.body();
}

const NOTHING: DecodedBody = { data: undefined, exactData: undefined };

/** Undefined where the text is not one JSON value and nothing else. */
function parsedWhole(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Plain `curl -d '{…}'` says that it sends a form. */
function isForm(body: Buffer, contentType: string | undefined): boolean {
  if (contentType === undefined || mediaTypeOf(contentType) !== 'application/x-www-form-urlencoded') return false;
  return !/^\s*[{[]/.test(body.toString('latin1', 0, SMALL_BODY));
}

/** `application/json; charset=utf-8` is `application/json`. */
export function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

/** What somebody else's middleware made of a body. @throws Refusal (400) for what is no object, or holds numbers that JSON cannot */
export function fieldsOfParsed(value: unknown): RequestData | undefined {
  const fields = fieldsOf(value);
  toFloats(fields, (at) => {
    throw new Refusal(400, `failed to decode JSON input: the number at ${JSON.stringify(at)} is beyond what a 64-bit float holds`);
  });
  return fields;
}

function fieldsOf(value: unknown): RequestData | undefined {
  if (value === null || value === undefined) return undefined;
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  if (kind !== 'object') throw undecodable(`json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`);
  return value as RequestData;
}

function undecodable(fault: string): Refusal {
  return new Refusal(400, `failed to decode JSON input: ${fault}`);
}

class JsonDecoder implements BodyDecoder {
  readonly #reader: JsonReader;

  constructor(body: Buffer, limits: BodyLimits) {
    this.#reader = new JsonReader(body, limits);
  }

  get memory(): number {
    // Exact numbers are there twice, with all around them.
    return this.#reader.exact ? 2 * this.#reader.memory : this.#reader.memory;
  }

  step(work: number): boolean {
    try {
      return this.#reader.step(work);
    } catch (error) {
      if (error instanceof JsonFault) throw undecodable(error.message);
      if (error instanceof JsonTooComplex) throw new TooCostly(error);
      throw error;
    }
  }

  body(): DecodedBody {
    const { value, exact } = this.#reader;
    if (!exact) return { data: fieldsOf(value), exactData: undefined };
    const data = fieldsOf(toFloats(value, (_at, text) => Number(text)));
    return { data, exactData: data && (value as RequestData) };
  }
}

class FormDecoder implements BodyDecoder {
  readonly #reader: FormReader;

  constructor(text: string, limits: BodyLimits) {
    this.#reader = new FormReader(text, { what: 'the form in the body', maxValues: pairsOf(limits), pairsOnly: true });
  }

  get memory(): number {
    return this.#reader.memory;
  }

  step(work: number): boolean {
    try {
      return this.#reader.step(work);
    } catch (error) {
      if (error instanceof TooManyValues) throw new TooCostly(error);
      throw error;
    }
  }

  body(): DecodedBody {
    return { data: this.#reader.fields, exactData: undefined };
  }
}

/** A pair of a form is a value, and two strings. */
function pairsOf({ maxValues, maxStrings }: BodyLimits): number {
  return Math.min(maxValues, Math.floor(maxStrings / 2));
}
