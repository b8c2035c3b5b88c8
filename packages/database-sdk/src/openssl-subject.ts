import { StatementInvalid } from './errors.ts';

const PAIR = /\s*([A-Za-z][\w-]*|\d+(?:\.\d+)*)\s*=\s*((?:\\[^]|[^\\,+])*)([,+]|$)/y;

/**
 * A certificate's subject as `REQUIRE SUBJECT` compares it: from RFC 4514, most specific first (`CN=app,O=Example`), to OpenSSL's line, in the
 * certificate's own order (`/O=Example/CN=app`). What is not printable ASCII stands as the bytes of its UTF-8. Throws StatementInvalid.
 */
export function opensslSubject(subject: string): string {
  const names: string[][] = [[]];
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < subject.length) {
    const match = PAIR.exec(subject);
    if (!match) throw new StatementInvalid('the subject of the certificate is not a distinguished name');
    names.at(-1)!.push(`/${match[1]}=${printable(unescape(match[2]!.trim()))}`);
    if (match[3] === ',') names.push([]);
  }
  return names.reverse().flat().join('');
}

/** `\,` is a comma and `\2C` too. */
function unescape(value: string): Buffer {
  const bytes = value.replace(/\\([0-9A-Fa-f]{2})|\\([^])|([^\\])/gsu, (_, hex?: string, plain?: string, other?: string) =>
    hex === undefined ? Buffer.from(plain ?? other ?? '').toString('latin1') : String.fromCharCode(parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}

function printable(bytes: Buffer): string {
  const text = (byte: number): string =>
    byte < 0x20 || byte > 0x7e ? `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}` : String.fromCharCode(byte);
  return [...bytes].map(text).join('');
}
