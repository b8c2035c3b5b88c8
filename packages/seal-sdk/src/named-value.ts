/** Reads a file. A throw is shown by its `code`. */
export type SettingFile = (path: string) => Uint8Array;

/** What a text of the configuration says, or names by `env://NAME` or `file://path`. */
export interface NamedValue {
  readonly bytes?: Uint8Array;
  /** Such as `the environment variable "KEY"`; absent where the text is the value. */
  readonly place?: string;
  /** Why there is no value: follows the name of the field, and never shows a value. */
  readonly problem?: string;
  /** The value comes from a file, which may be there later. */
  readonly file?: boolean;
}

/** Reads a text of the configuration, from the place that it names. */
export function namedValue(
  text: string,
  { env, readFile }: { readonly env: Readonly<Record<string, string | undefined>>; readonly readFile: SettingFile },
): NamedValue {
  const [, scheme, name = ''] = /^(env|file):\/\/(.*)$/s.exec(text) ?? [];
  if (scheme === undefined) return { bytes: Buffer.from(text) };
  if (scheme === 'env') {
    const place = `the environment variable ${shown(name)}`;
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    return value ? { bytes: Buffer.from(value), place } : { place, problem: `names ${place}, which is not set` };
  }
  const place = `the file ${shown(name)}`;
  try {
    return { bytes: readFile(name), place, file: true };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return { place, file: true, problem: `names ${place}, which cannot be read: ${code}` };
  }
}

function shown(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
