import { namedValue, type SettingFile } from './named-value.ts';
import type { Setting } from './settings.ts';

/** Where the values of one block come from. */
export interface SettingSources {
  /** As written: texts, and true or false as texts. `env://NAME` and `file://path` name where the value is. */
  readonly block: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False: environment variables count only where the block has no value, as for the second block of one type. Default: they win. */
  readonly envWins?: boolean;
  readonly readFile: SettingFile;
}

/** One try to read a setting. */
export interface Reading {
  readonly value?: string | boolean | Uint8Array | undefined;
  /** What is wrong; never shows a value. */
  readonly problem?: string;
  /** The problem may be gone later. */
  readonly later?: boolean;
}

const KEY_BYTES = 32;

/** Reads what a setting's text says or names. Undefined reads as nothing. */
export function readSource(setting: Setting, source: string | undefined, { env, readFile }: SettingSources): Reading {
  if (source === undefined) return {};
  const { bytes, place, problem, file } = namedValue(source, { env, readFile });
  if (bytes === undefined) return { problem: problem ?? 'must be given', ...(file ? { later: true } : {}) };
  if (file && setting.kind === 'key' && bytes.length === KEY_BYTES) return { value: bytes };
  return parse(setting, bytes, place === undefined ? 'must be' : `names ${place}, which must hold`);
}

/** What `open` gets for a reading. */
export function valueOf({ kind, default: otherwise }: Setting, value: Reading['value']): unknown {
  return value ?? (kind === 'flag' ? false : otherwise);
}

function parse({ kind, choices }: Setting, bytes: Uint8Array, must: string): Reading {
  const text = Buffer.from(bytes).toString().trim();
  if (text === '') return { problem: `${must} more than an empty text` };
  if (kind === 'key') {
    const key = keyOf(text);
    return key ? { value: key } : { problem: `${must} 32 bytes as hex or base64` };
  }
  if (kind === 'flag') {
    const flag = new Map([
      ...['true', '1', 't'].map((yes) => [yes, true] as const),
      ...['false', '0', 'f'].map((no) => [no, false] as const),
    ]);
    const value = flag.get(text.toLowerCase());
    return value === undefined ? { problem: `${must} true or false` } : { value };
  }
  if (choices && !choices.includes(text)) return { problem: `${must} one of ${choices.map(shown).join(', ')}` };
  return { value: text };
}

function keyOf(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
