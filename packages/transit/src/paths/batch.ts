import { BadRequest, EngineError, own, type EngineRequest, type EngineResponse } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { fromBase64, NotBase64 } from '../crypto/base64.ts';
import { Turns } from '../crypto/turns.ts';

/** The most items of one call. */
export const MAX_BATCH = 50_000;

/** An item of a batch: its texts by name, and the version that it asks for. */
export interface Item {
  readonly texts: ReadonlyMap<string, string>;
  readonly version: number;
}

/** A field that is Base64 in a request. @throws BadRequest with `complaint` of what Base64 says */
export function decoded(text: string, complaint: (fault: string) => string = (fault) => fault): Buffer {
  try {
    return fromBase64(text);
  } catch (error) {
    if (error instanceof NotBase64) throw new BadRequest(complaint(error.message));
    throw error;
  }
}

/** Reads `batch_input`; undefined where it was not sent. `names` are the texts that an item may have. @throws BadRequest */
export function batchItems(input: readonly unknown[] | undefined, names: readonly string[]): Item[] | undefined {
  if (input === undefined) return undefined;
  if (input.length === 0) throw new BadRequest('missing batch input to process');
  if (input.length > MAX_BATCH) throw new BadRequest(`batch_input has ${input.length} items; at most ${MAX_BATCH} are allowed`);
  return input.map((raw, position) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
      throw new BadRequest(`failed to parse batch input: [${position}] expected a map, got '${Array.isArray(raw) ? 'list' : typeof raw}'`);
    const texts = new Map<string, string>();
    for (const name of names) {
      const value = own(raw as Record<string, unknown>, name);
      if (value === undefined || value === null) continue;
      if (typeof value !== 'string') throw new BadRequest(`failed to parse batch input: '[${position}].${name}' must be text`);
      texts.set(name, value);
    }
    const version = own(raw as Record<string, unknown>, 'key_version') ?? 0;
    const number = typeof version === 'string' && /^-?[0-9]{1,9}$/.test(version) ? Number(version) : version;
    if (typeof number !== 'number' || !Number.isSafeInteger(number))
      throw new BadRequest(`failed to parse batch input: '[${position}].key_version' must be a whole number`);
    return { texts, version: number };
  });
}

/** One item that is the request itself. */
export function soleItem(texts: Readonly<Record<string, string | undefined>>, version = 0): Item {
  const sent = Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { texts: new Map(sent), version };
}

/** Contexts are set in all items or in none. @throws BadRequest */
export function contextsAgree(items: readonly Item[]): boolean {
  const has = (item: Item): boolean => (item.texts.get('context') ?? '') !== '';
  const first = has(items[0]!);
  if (items.some((item) => has(item) !== first)) throw new BadRequest('context should be set either in all the request blocks or in none');
  return first;
}

/** What an item came to: its result, or why it failed. */
export type Outcome<R> = { readonly result: R } | { readonly error: string };

/** Works on all items in order, and lets other requests run between them. A failure of one item leaves the others alone; what is not the caller's fault ends all. */
export async function eachItem<R>(
  req: Pick<EngineRequest, 'signal'>,
  items: readonly Item[],
  cost: (item: Item) => number,
  work: (item: Item, position: number) => Promise<R>,
): Promise<Outcome<R>[]> {
  const turns = new Turns();
  const outcomes: Outcome<R>[] = [];
  for (const [position, item] of items.entries()) {
    const turn = turns.take(cost(item), req);
    if (turn) await turn;
    try {
      outcomes.push({ result: await work(item, position) });
    } catch (error) {
      if (!(error instanceof EngineError) || error.status >= 500) throw error;
      outcomes.push({ error: error.message });
    }
  }
  return outcomes;
}

/** The only result of a call without a batch. @throws BadRequest where it failed */
export function soleResult<R>([outcome]: readonly Outcome<R>[]): R {
  if (!outcome || 'error' in outcome) throw new BadRequest(outcome?.error ?? 'nothing was processed');
  return outcome.result;
}

/** The entry of `batch_results` of one item. */
export function batchResult<R extends object>(outcome: Outcome<R>, item: Item, failed: object = {}): object {
  const reference = item.texts.get('reference') ?? '';
  return 'error' in outcome ? { ...failed, error: outcome.error, reference } : { ...outcome.result, reference };
}

/** The answer of a batch of encryptions or decryptions: 400 where an item failed, or what the caller chose where others succeeded. */
export function batchAnswer(
  results: readonly object[],
  outcomes: readonly Outcome<unknown>[],
  chosen: number | undefined,
): EngineResponse<{ batch_results: never[] }> {
  const data = { batch_results: results as never[] };
  const failed = outcomes.filter((outcome) => 'error' in outcome).length;
  if (failed === 0) return { data };
  if (chosen === undefined || failed === outcomes.length) return { data, status: 400 };
  if (chosen >= 200 && chosen <= 599 && ![204, 205, 304].includes(chosen)) return { data, status: chosen };
  return { data, status: 400, warnings: ['invalid HTTP response code override from partial_failure_response_code, reverting to 400'] };
}

export const Reference = Type.String({ description: 'The reference of the item.' });
export const ItemError = Type.Optional(Type.String({ description: 'Why the item failed.' }));
