import { BadRequest, decodeValue, listed } from '@strongroom/engine-sdk';

const PREFIX = 'custom_metadata validation failed';
const MAX_KEYS = 64;
const MAX_KEY_BYTES = 128;
const MAX_VALUE_BYTES = 512;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

type Texts = Record<string, string>;

/** The texts of `custom_metadata` as sent; null where there are none. @throws BadRequest */
export function customMetadata(sent: Readonly<Record<string, unknown>>): Texts | null {
  const texts = Object.fromEntries(Object.entries(sent).map(([key, value]) => [key, textOf(key, value)]));
  check(texts);
  return Object.keys(texts).length === 0 ? null : texts;
}

/** What a patch makes of the custom metadata: null removes a key. @throws BadRequest */
export function patchedCustomMetadata(before: Readonly<Texts> | null, sent: Readonly<Record<string, unknown>>): Texts | null {
  const merged = new Map<string, unknown>(Object.entries(before ?? {}));
  for (const [key, value] of Object.entries(sent)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return customMetadata(Object.fromEntries(merged));
}

function textOf(key: string, value: unknown): string {
  try {
    return decodeValue('string', value) as string;
  } catch (error) {
    throw new BadRequest(`${PREFIX}: value for key ${JSON.stringify(key)}: ${(error as Error).message}`);
  }
}

function check(texts: Readonly<Texts>): void {
  const entries = Object.entries(texts);
  if (entries.length > MAX_KEYS) {
    throw new BadRequest(`${PREFIX}: payload must contain at most ${MAX_KEYS} keys, provided ${entries.length}`);
  }
  const problems: string[] = [];
  for (const [key, value] of entries) {
    const name = JSON.stringify(key);
    const keyBytes = Buffer.byteLength(key);
    const valueBytes = Buffer.byteLength(value);
    if (keyBytes === 0 || keyBytes > MAX_KEY_BYTES) {
      problems.push(`length of key ${name} is ${keyBytes} but must be 0 < len(key) <= ${MAX_KEY_BYTES}`);
    }
    if (valueBytes === 0 || valueBytes > MAX_VALUE_BYTES) {
      problems.push(`length of value for key ${name} is ${valueBytes} but must be 0 < len(value) <= ${MAX_VALUE_BYTES}`);
    }
    if (UNPRINTABLE.test(key)) problems.push(`key ${name} contains unprintable characters`);
    if (UNPRINTABLE.test(value)) problems.push(`value for key ${name} contains unprintable characters`);
  }
  if (problems.length > 0) throw new BadRequest(listed(...problems.map((problem) => `${PREFIX}: ${problem}`)));
}
