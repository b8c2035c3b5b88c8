declare const VALUE: unique symbol;

/** `key`: 32 bytes, as hex or base64; a file may hold them as they are. */
export type SettingKind = 'text' | 'secret' | 'flag' | 'key';

/** One key of a `seal` block. Made by `setting`. */
export interface Setting<T = unknown> {
  readonly kind: SettingKind;
  /** One sentence for the reference: what it is, and what counts when it is left out. */
  readonly summary: string;
  /** Environment variables that replace the block's value; the first that is set counts. */
  readonly env: readonly string[];
  readonly required: boolean;
  /** Of a text: what counts when it is left out. */
  readonly default?: string;
  /** Of a text: the values that it may have. */
  readonly choices?: readonly string[];
  /** Carries the type only. */
  readonly [VALUE]?: T;
}

/** The keys of a block by name. */
export type Settings = Readonly<Record<string, Setting>>;

/** What `open` gets: a value for each key that is required or has a default, perhaps `undefined` for the others. */
export type SettingValues<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** How a setting is declared. */
export interface SettingOptions {
  readonly env?: readonly string[];
  readonly required?: boolean;
}

/** How a text is declared. */
export interface TextOptions extends SettingOptions {
  readonly default?: string;
  readonly choices?: readonly string[];
}

type Present<T, O> = O extends { readonly required: true } | { readonly default: string } ? T : T | undefined;

function declare<T>(kind: SettingKind, summary: string, { env = [], required = false, ...others }: TextOptions): Setting<T> {
  return { kind, summary, env, required, ...others };
}

/** Declares the keys of a `seal` block. */
export const setting = {
  text: <const O extends TextOptions>(summary: string, options?: O): Setting<Present<string, O>> => declare('text', summary, options ?? {}),
  /** A text that appears in no message. */
  secret: <const O extends SettingOptions>(summary: string, options?: O): Setting<Present<string, O>> =>
    declare('secret', summary, options ?? {}),
  /** True or false; false when left out. */
  flag: (summary: string, options: Omit<SettingOptions, 'required'> = {}): Setting<boolean> => declare('flag', summary, options),
  key: <const O extends SettingOptions>(summary: string, options?: O): Setting<Present<Uint8Array, O>> =>
    declare('key', summary, options ?? {}),
};
