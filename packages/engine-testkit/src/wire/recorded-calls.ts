import { isDeepStrictEqual } from 'node:util';
import type { Core } from '@strongroom/core';
import type { Runner } from '../engine-contract.ts';
import { ask, bodyOf, type Asked } from './ask.ts';
import { compareShapes, shapeOf, type RecordedCall } from './recorded-call.ts';

/** An answer as a client sees it. */
export interface WireAnswer {
  readonly status: number;
  /** Undefined for an answer without a body. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Where the answer is another one on purpose. */
export interface Difference {
  /** One sentence. */
  readonly why: string;
  readonly status: number;
  /** A text is compared word for word. Absent: the texts are not compared. */
  readonly errors?: readonly (string | RegExp)[];
}

/** Recorded calls, and whom they are made to. */
export interface RecordedCalls {
  readonly calls: readonly RecordedCall[];
  /** The core that is asked; `ask` takes its place where the calls go over HTTP. */
  readonly core?: () => Core;
  readonly ask?: (call: string, asked: Asked) => Promise<WireAnswer>;
  /** What `$name` stands for in the calls, beside what the calls keep. */
  readonly values?: () => Readonly<Record<string, string>>;
  /** By the number of the call, from 1. */
  readonly differences?: Readonly<Record<number, Difference>>;
  /** Keys beyond the recorded ones that are meant, such as `.data.status`. */
  readonly extraKeys?: readonly (string | RegExp)[];
  /** Recorded keys that the answers leave out on purpose, such as `.data.cpu[].flags`. */
  readonly missingKeys?: readonly (string | RegExp)[];
  /** The root token by default. */
  readonly rootToken?: string;
  /** Runs before the call of that number: moves a clock, say. */
  readonly before?: (number: number) => Promise<void>;
}

/**
 * Makes recorded calls in their order, a test for each, and compares statuses, texts, shapes and values with the recording. Values of the answers that
 * later calls need are kept across the tests, so the tests of one recording only pass together.
 */
export function recordedCalls({ test }: Pick<Runner, 'test'>, recorded: RecordedCalls): void {
  const kept = new Map<string, string>();
  for (const [index, call] of recorded.calls.entries()) {
    const number = index + 1;
    const who = call.as ?? (call.token === undefined ? 'root' : 'a stranger');
    test(`${number}. ${call.call} as ${who} with ${Object.keys((call.body as object | undefined) ?? {}).join(', ') || 'nothing'}`, async () => {
      await recorded.before?.(number);
      const sent = filled(call, recorded, kept);
      const answer = await make(recorded, sent, kept);
      for (const [name, place] of Object.entries(call.keep ?? {})) {
        const value = dig(answer.body, place);
        if (typeof value === 'string') kept.set(name, value);
      }
      const problems = problemsOf(sent, answer, recorded, number);
      if (problems.length > 0) throw new Error(`${sent.call}\n${problems.join('\n')}`);
    });
  }
}

async function make(recorded: RecordedCalls, call: RecordedCall, kept: ReadonlyMap<string, string>): Promise<WireAnswer> {
  const asked: Asked = {
    body: call.body,
    token: call.token ?? (call.as === undefined ? (recorded.rootToken ?? 'root') : call.as === 'nobody' ? undefined : kept.get(call.as)),
    wrap: call.wrap,
    headers: call.headers,
    remoteAddress: '127.0.0.1',
  };
  if (recorded.ask) return recorded.ask(call.call, asked);
  const answer = await ask(recorded.core!(), call.call, asked);
  return { status: answer.status, body: bodyOf(answer), ...(answer.headers ? { headers: answer.headers } : {}) };
}

/** The call with the values known by now in place of `$name`. */
function filled(call: RecordedCall, recorded: RecordedCalls, kept: ReadonlyMap<string, string>): RecordedCall {
  const { keep, ...rest } = call;
  const known: Readonly<Record<string, string>> = { ...recorded.values?.(), ...Object.fromEntries(kept) };
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(/\$(\w+)/g, (whole, name: string) => (Object.hasOwn(known, name) ? known[name]! : whole));
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [fill(key), fill(inner)]));
  };
  return { ...(fill(rest) as RecordedCall), ...(keep === undefined ? {} : { keep }) };
}

function problemsOf(call: RecordedCall, { status, body, headers = {} }: WireAnswer, recorded: RecordedCalls, number: number): string[] {
  const difference = recorded.differences?.[number];
  const errors = (body as { errors?: readonly string[] } | undefined)?.errors;
  if (difference) {
    const wanted = difference.errors;
    const same = wanted === undefined || (errors?.length === wanted.length && wanted.every((text, at) => matches(text, errors[at]!)));
    return [
      ...(status === difference.status ? [] : [`status ${status}, not ${difference.status}: ${JSON.stringify(body)}`]),
      ...(same ? [] : [`errors ${JSON.stringify(errors)}, not ${String(wanted)}`]),
      ...(difference.status === call.status && wanted === undefined ? ['the difference says nothing: the status is the recorded one'] : []),
    ];
  }
  if (status !== call.status) return [`status ${status}, not ${call.status}: ${JSON.stringify(body)}`];
  const problems: string[] = [];
  const sent = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  for (const [name, value] of Object.entries(call.response_headers ?? {})) {
    if (sent.has(name.toLowerCase()) !== (value !== null)) problems.push(`header ${name} is ${value === null ? 'there' : 'missing'}`);
  }
  if ((call.shape !== undefined || call.errors !== undefined) && !isDeepStrictEqual(errors, call.errors)) {
    problems.push(`errors ${JSON.stringify(errors)}, not ${JSON.stringify(call.errors)}`);
  }
  if (call.shape !== undefined) {
    const { wrong, extra } = compareShapes(call.shape, shapeOf(body));
    problems.push(
      ...wrong.filter((problem) => !isMissing(problem, recorded.missingKeys ?? [])),
      ...extra.filter((key) => !(recorded.extraKeys ?? []).some((known) => matches(known, key))).map((key) => `${key} is extra`),
    );
  }
  const values = { ...(call.data === undefined ? {} : { data: call.data }), ...call.values };
  for (const [place, value] of Object.entries(values)) {
    const found = withoutKeys(dig(body, place), place, recorded.extraKeys ?? []);
    if (!isDeepStrictEqual(found, value)) problems.push(`${place} is ${JSON.stringify(found)}, not ${JSON.stringify(value)}`);
  }
  return problems;
}

function isMissing(problem: string, keys: readonly (string | RegExp)[]): boolean {
  const [, key] = /^(\S+) is missing$/.exec(problem) ?? [];
  return key !== undefined && keys.some((known) => matches(known, key));
}

function matches(wanted: string | RegExp, text: string): boolean {
  return typeof wanted === 'string' ? wanted === text : wanted.test(text);
}

/** What the recorded server does not answer stands in no recording. */
function withoutKeys(found: unknown, place: string, extra: readonly (string | RegExp)[]): unknown {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return found;
  return Object.fromEntries(Object.entries(found).filter(([key]) => !extra.some((known) => matches(known, `.${place}.${key}`))));
}

function dig(body: unknown, place: string): unknown {
  return place.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined | null)?.[key], body);
}
