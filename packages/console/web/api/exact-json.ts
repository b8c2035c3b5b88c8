/** A number with more digits than a float keeps, with the text that the server sent. It is written back as it came. */
export interface ExactNumber {
  readonly rawJSON: string;
}

export type Json = null | boolean | number | string | ExactNumber | readonly Json[] | { readonly [key: string]: Json };

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const known = JSON as unknown as {
  readonly rawJSON?: (text: string) => ExactNumber;
  readonly isRawJSON?: (value: unknown) => boolean;
  parse(text: string, reviver: Reviver): unknown;
};

/** Reads a text, and keeps numbers digit by digit (`12345678901234567890`, `1.0`) where the browser can. @throws SyntaxError */
export function readExact(text: string): Json {
  const reviver: Reviver = (_key, value, context) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source && known.rawJSON
      ? known.rawJSON(context.source)
      : value;
  return known.parse(text, reviver) as Json;
}

export function isExact(value: unknown): value is ExactNumber {
  return known.isRawJSON?.(value) ?? false;
}

/** An object whose keys are looked at one by one: no list, no exact number. */
export function isRecord(value: unknown): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value);
}
