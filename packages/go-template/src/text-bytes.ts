/**
 * Go's strings hold any bytes, JavaScript's do not. Inside a template a byte that is not part of valid UTF-8 is a lone
 * surrogate U+DC80…U+DCFF (the convention of Python's `surrogateescape`), so that `utf16le | base64` and the like
 * lose nothing.
 */
const SURROGATE = /[\ud800-\udfff]/;
const LONE_LOW = 0xdc00;

/** The bytes Go would see. Other lone surrogates count as U+FFFD, as when read from JSON by Go. */
export function textToBytes(text: string): Buffer {
  if (!SURROGATE.test(text)) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  let plain = '';
  for (const char of text) {
    const code = char.charCodeAt(0);
    if (char.length === 1 && code >= LONE_LOW + 0x80 && code <= LONE_LOW + 0xff) {
      parts.push(Buffer.from(plain, 'utf8'), Buffer.from([code - LONE_LOW]));
      plain = '';
    } else {
      plain += char;
    }
  }
  parts.push(Buffer.from(plain, 'utf8'));
  return Buffer.concat(parts);
}

export function bytesToText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  let out = '';
  for (let at = 0; at < buffer.length;) {
    const length = sequenceLength(buffer, at);
    out += length === 0 ? String.fromCharCode(LONE_LOW + (buffer[at] ?? 0)) : buffer.toString('utf8', at, at + length);
    at += length || 1;
  }
  return out;
}

/** The text as it leaves the template: bytes that form no UTF-8 become U+FFFD. */
export function finishedText(text: string): string {
  return SURROGATE.test(text) ? textToBytes(text).toString('utf8') : text;
}

/** Length in bytes. */
export function byteLength(text: string): number {
  return SURROGATE.test(text) ? textToBytes(text).length : Buffer.byteLength(text);
}

/** Length of the valid UTF-8 sequence at `at`, 0 when there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  const second = bytes[at + 1] ?? 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let next = 2; next < length; next += 1) {
    if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}
