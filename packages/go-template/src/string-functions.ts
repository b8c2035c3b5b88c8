import { createHash } from 'node:crypto';
import { globMatches } from './glob.ts';
import { formatGoTime } from './go-time.ts';
import { TemplateFunctionError } from './template-error.ts';
import type { TemplateCall, TemplateFunction } from './template-function.ts';
import { textFunction } from './template-function.ts';
import { byteLength, bytesToText, textToBytes } from './text-bytes.ts';

const HASH_CHARS = 8;
const LETTERS_AND_DIGITS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** `random`: a number of letters and digits. */
export const randomFunction: TemplateFunction = { parameters: ['int'], call: ([length], call) => random(length as number, call) };

/** The functions OpenBao adds to those of Go. Lengths are in bytes. */
export const STRING_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  random: randomFunction,
  truncate: { parameters: ['int', 'string'], call: ([length, text]) => truncate(length as number, text as string) },
  truncate_sha256: { parameters: ['int', 'string'], call: ([length, text]) => truncateSha256(length as number, text as string) },
  uppercase: textFunction((text) => mapped(text, (char) => char.toUpperCase())),
  lowercase: textFunction((text) => mapped(text, (char) => (char === '\u0130' ? 'i' : char.toLowerCase()))),
  replace: {
    parameters: ['string', 'string', 'string'],
    call: ([from, to, text], call) => replace(from as string, to as string, text as string, call),
  },
  sha256: textFunction(sha256),
  base64: textFunction((text) => textToBytes(text).toString('base64')),
  decode_base64: textFunction(decodeBase64),
  hex: textFunction((text) => textToBytes(text).toString('hex')),
  decode_hex: textFunction(decodeHex),
  unix_time: { parameters: [], call: (_args, { environment }) => String(Math.floor(environment.now().getTime() / 1000)) },
  unix_time_millis: { parameters: [], call: (_args, { environment }) => String(environment.now().getTime()) },
  timestamp: { parameters: ['string'], call: ([layout], { environment }) => formatGoTime(environment.now(), layout as string) },
  uuid: { parameters: [], call: (_args, { environment }) => environment.uuid?.() ?? uuid(environment.randomBytes(16)) },
  glob: { parameters: ['string', 'string'], call: ([pattern, value]) => globMatches(pattern as string, value as string) },
};

/** For LDIF only: the bytes of the text in UTF-16LE, as Active Directory wants passwords (`| utf16le | base64`). */
export const utf16le: TemplateFunction = textFunction((text) => bytesToText(Buffer.from(textToBytes(text).toString('utf8'), 'utf16le')));

/** Letters and digits, each of the 62 equally likely. */
function random(length: number, { environment, spend }: TemplateCall): string {
  if (length < 0) throw new TemplateFunctionError(`length must be >= 0 but was ${length}`);
  spend(length);
  let out = '';
  const limit = 256 - (256 % LETTERS_AND_DIGITS.length);
  while (out.length < length) {
    for (const byte of environment.randomBytes(Math.ceil((length - out.length) * 1.1) + 2)) {
      if (byte < limit && out.length < length) out += LETTERS_AND_DIGITS.charAt(byte % LETTERS_AND_DIGITS.length);
    }
  }
  return out;
}

/** The first `length` bytes, without the pieces of a character that no longer fits whole. */
function truncate(length: number, text: string): string {
  if (length <= 0) throw new TemplateFunctionError(`max length must be > 0 but was ${length}`);
  return firstBytes(text, length);
}

/** Cuts a longer text and puts the start of the hash of what was cut off in the place of the last eight bytes. */
function truncateSha256(length: number, text: string): string {
  if (length <= HASH_CHARS) throw new TemplateFunctionError(`max length must be > 8 but was ${length}`);
  if (byteLength(text) <= length) return text;
  const kept = firstBytes(text, length - HASH_CHARS);
  return kept + sha256(text.slice(kept.length)).slice(0, HASH_CHARS);
}

function firstBytes(text: string, length: number): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.slice(0, length);
  let bytes = 0;
  let chars = 0;
  for (const char of text) {
    bytes += byteLength(char);
    if (bytes > length) return text.slice(0, chars);
    chars += char.length;
  }
  return text;
}

/** Character by character, as Go does: a change to several characters is not made. */
function mapped(text: string, change: (char: string) => string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return change(text);
  let out = '';
  for (const char of text) {
    const changed = change(char);
    out += [...changed].length === 1 ? changed : char;
  }
  return out;
}

function replace(from: string, to: string, text: string, { spend }: TemplateCall): string {
  const pieces = from === '' ? [...text] : text.split(from);
  spend(text.length + (pieces.length + 1) * to.length);
  return from === '' ? `${to}${pieces.map((char) => char + to).join('')}` : pieces.join(to);
}

function sha256(text: string): string {
  return createHash('sha256').update(textToBytes(text)).digest('hex');
}

function decodeBase64(text: string): string {
  const plain = text.replaceAll(/[\r\n]/g, '');
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) throw new TemplateFunctionError('illegal base64 data');
  return bytesToText(Buffer.from(plain, 'base64'));
}

function decodeHex(text: string): string {
  if (!/^[\da-fA-F]*$/.test(text)) throw new TemplateFunctionError('encoding/hex: invalid byte');
  if (text.length % 2 !== 0) throw new TemplateFunctionError('encoding/hex: odd length hex string');
  return bytesToText(Buffer.from(text, 'hex'));
}

function uuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
