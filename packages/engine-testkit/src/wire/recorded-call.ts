/** A shape: objects by their keys, lists by their first element, scalars by the name of their JSON type; `nothing` is no body. */
export type Shape = string | readonly Shape[] | { readonly [key: string]: Shape };

/** One call of a command-line client, and what the server that such clients trust answered to it. */
export interface RecordedCall {
  /** Method and path below `/v1/`; `$name` stands for a kept value. */
  readonly call: string;
  readonly body?: unknown;
  /** `nobody`, or the name of a kept token; the root token without it. */
  readonly as?: string;
  /** Sent as it is. */
  readonly token?: string;
  /** X-Vault-Wrap-TTL. */
  readonly wrap?: string;
  /** Further headers; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of the answer that later calls use: name and where it is in the body, such as `auth.client_token`. */
  readonly keep?: Readonly<Record<string, string>>;
  readonly status: number;
  /** Absent where only the status was compared. */
  readonly shape?: Shape;
  /** Word for word. */
  readonly errors?: readonly string[];
  /** Headers of the answer that must be there, or with null must not. */
  readonly response_headers?: Readonly<Record<string, string | null>>;
  /** `data`, where it is always the same. */
  readonly data?: unknown;
  /** Single values that are always the same, by where they are in the body: `auth.lease_duration`, `data.keys`. */
  readonly values?: Readonly<Record<string, unknown>>;
}

/** The shape of a value. */
export function shapeOf(value: unknown): Shape {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
  return typeof value;
}

/** What a client would miss, and the keys that are new to it. */
export function compareShapes(recorded: Shape, found: Shape, at = ''): { wrong: string[]; extra: string[] } {
  const result = { wrong: [] as string[], extra: [] as string[] };
  const join = (inner: { wrong: string[]; extra: string[] }): void => {
    result.wrong.push(...inner.wrong);
    result.extra.push(...inner.extra);
  };
  if (isObject(recorded) && isObject(found)) {
    for (const key of Object.keys(recorded)) {
      const inner = found[key];
      if (inner === undefined) result.wrong.push(`${at}.${key} is missing`);
      else join(compareShapes(recorded[key]!, inner, `${at}.${key}`));
    }
    for (const key of Object.keys(found)) if (!Object.hasOwn(recorded, key)) result.extra.push(`${at}.${key}`);
  } else if (Array.isArray(recorded) && Array.isArray(found)) {
    if (recorded.length !== found.length) result.wrong.push(`${at} is ${found.length === 0 ? 'empty' : 'not empty'}`);
    else if (recorded.length > 0) join(compareShapes(recorded[0] as Shape, found[0] as Shape, `${at}[]`));
  } else if (recorded !== found) {
    result.wrong.push(`${at} is ${JSON.stringify(found)}, not ${JSON.stringify(recorded)}`);
  }
  return result;
}

function isObject(shape: Shape): shape is { readonly [key: string]: Shape } {
  return typeof shape === 'object' && !Array.isArray(shape);
}
