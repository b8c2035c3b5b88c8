import { Type, type TSchema, type TUnsafe } from 'typebox';

/** How an operation answers, where that is not an envelope with `data` alone. */
export interface AnswerForm {
  /**
   * `none`: no body. `token`: a token in `auth`. `lease`: a credential in `data`, and its lease. `raw`: a body without an envelope. `any`: what another call
   * answered. `warned`: no data, but warnings. `refusal`: `errors`.
   */
  readonly kind: 'none' | 'token' | 'lease' | 'raw' | 'any' | 'warned' | 'refusal';
  /** Of a `raw` answer: the media types that it may have. */
  readonly contentTypes?: readonly string[];
  /** Of a `raw` answer: it is sent as it comes about, and never wrapped. */
  readonly streamed?: true;
}

/** `T` as a handler may return it: arrays and objects may be readonly, and what is optional may be undefined. */
export type Answered<T> = T extends readonly (infer I)[]
  ? readonly Answered<I>[]
  : T extends object
    ? { readonly [K in keyof T]: object extends Pick<T, K> ? Answered<T[K]> | undefined : Answered<T[K]> }
    : T;

const FORM = 'x-answer';
const MAY_BE_EMPTY = 'x-may-be-empty';

const formed = <T>(form: AnswerForm, schema: object = {}): TUnsafe<T> => Type.Unsafe<T>({ ...schema, [FORM]: form } as TSchema);

/** RFC 3339. */
export const Timestamp = Type.String({ format: 'date-time' });

/** A duration in seconds. */
export const Seconds = Type.Integer({ description: 'Seconds.' });

/** No body: the operation has nothing to say. 204, unless it stands in `Op.answers`. */
export const NoContent = formed<never>({ kind: 'none' });

/** A login, or another call that makes or renews a token: `auth`, without `data`. */
export const IssuedToken = formed<Record<string, never>>({ kind: 'token' });

/** A renewed lease, without `data`. */
export const RenewedLease = formed<never>({ kind: 'lease' });

/** What another call answered, such as one that was wrapped. */
export const AnyAnswer = formed<unknown>({ kind: 'any' });

/** Nothing but warnings. For `Op.answers`; a `NoContent` of 200 may have them anyway. */
export const Warned = formed<never>({ kind: 'warned' });

/** The call failed, and `errors` say why. For `Op.answers`. */
export const Refusal = formed<never>({ kind: 'refusal' });

/** A credential with a lease. */
export function leased<S extends TSchema>(schema: S): S {
  return { ...schema, [FORM]: { kind: 'lease' } satisfies AnswerForm };
}

/** A body of one of these media types, without an envelope; of JSON, its shape. */
export function rawAnswer(contentTypes: string | readonly string[], schema: TSchema = {}): TUnsafe<never> {
  return formed<never>({ kind: 'raw', contentTypes: [contentTypes].flat() }, schema);
}

/** A body of one of these media types that is sent as it comes about. */
export function streamedAnswer(contentTypes: string | readonly string[]): TUnsafe<never> {
  return formed<never>({ kind: 'raw', contentTypes: [contentTypes].flat(), streamed: true });
}

/** `data` of this shape, or 204 where there is nothing to say. Only for writes and deletes: a read of nothing is a 404. */
export function orNoContent<S extends TSchema>(schema: S): S {
  return { ...schema, [MAY_BE_EMPTY]: true };
}

/** What a response schema declares of the form of the answer; undefined for an envelope with `data`. */
export function answerForm(schema: TSchema): AnswerForm | undefined {
  return (schema as { [FORM]?: AnswerForm })[FORM];
}

/** Whether `orNoContent` made the schema. */
export function mayBeEmpty(schema: TSchema): boolean {
  return (schema as { [MAY_BE_EMPTY]?: boolean })[MAY_BE_EMPTY] === true;
}
