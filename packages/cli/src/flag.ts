/** How a flag's text becomes a value. `toggle` is a boolean that knows whether it was given at all. */
export type FlagKind = 'boolean' | 'toggle' | 'text' | 'integer' | 'duration' | 'list' | 'map';

/** One flag, without its name: the name is the key under which a command declares it, written as the user types it. */
export interface Flag<Value = unknown> {
  readonly kind: FlagKind;
  readonly description: string;
  /** Other variants, for example `ns` for `namespace`. */
  readonly aliases: readonly string[];
  /** What help shows after `=`. */
  readonly placeholder: string;
  /** The only texts accepted, when the set is closed. */
  readonly choices: readonly string[] | undefined;
  /** Texts that shells offer, when the set is open. */
  readonly suggestions: readonly string[] | undefined;
  /** The value when the flag is absent. */
  readonly fallback: Value;
}

export type Flags = Readonly<Record<string, Flag>>;

export type FlagValues<F extends Flags> = { readonly [Name in keyof F]: F[Name] extends Flag<infer Value> ? Value : never };

interface FlagOptions {
  readonly aliases?: readonly string[];
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  readonly suggestions?: readonly string[];
}

function declare<Value>(kind: FlagKind, description: string, fallback: Value, placeholder: string, options: FlagOptions = {}): Flag<Value> {
  return {
    kind,
    description,
    fallback,
    aliases: options.aliases ?? [],
    placeholder: options.placeholder ?? placeholder,
    choices: options.choices,
    suggestions: options.suggestions,
  };
}

/** Constructors of flags; the value's type follows from the one used. */
export const flag = {
  /** `-x`, `-x=true`, `-x=false`; never takes the next word. */
  boolean: (description: string, options: FlagOptions & { fallback?: boolean } = {}): Flag<boolean> =>
    declare('boolean', description, options.fallback ?? false, 'bool', options),
  /** A boolean that is undefined when absent, for fields that are only sent when given. */
  toggle: (description: string, options?: FlagOptions): Flag<boolean | undefined> =>
    declare<boolean | undefined>('toggle', description, undefined, 'bool', options),
  text: (description: string, options?: FlagOptions): Flag<string | undefined> =>
    declare<string | undefined>('text', description, undefined, 'string', options),
  /** A whole number, possibly negative. */
  integer: (description: string, options?: FlagOptions): Flag<number | undefined> =>
    declare<number | undefined>('integer', description, undefined, 'int', options),
  /** Seconds, or a duration such as `90m` or `30d`; the value is in seconds. */
  duration: (description: string, options?: FlagOptions): Flag<number | undefined> =>
    declare<number | undefined>('duration', description, undefined, 'duration', options),
  /** Repeatable; the values in the order given. */
  list: (description: string, options?: FlagOptions): Flag<readonly string[]> =>
    declare<readonly string[]>('list', description, [], 'string', options),
  /** Repeatable `key=value`; a later key replaces an earlier one. */
  map: (description: string, options?: FlagOptions): Flag<Readonly<Record<string, string>>> =>
    declare<Readonly<Record<string, string>>>('map', description, {}, 'key=value', options),
};
