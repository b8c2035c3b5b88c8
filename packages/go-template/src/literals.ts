import { bytesToText } from './text-bytes.ts';

const SIMPLE: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92 };

/** The text of a Go string or character literal; undefined when an escape is wrong. */
export function unquoteGo(literal: string): string | undefined {
  const quote = literal.charAt(0);
  const inner = literal.slice(1, -1);
  if (quote === '`') return inner.replaceAll('\r', '');
  if (!inner.includes('\\')) return inner;
  const out: Buffer[] = [];
  const piece = /[^\\]+|\\(?:([abfnrtv\\'"])|x([\da-fA-F]{2})|([0-7]{3})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/y;
  for (let at = 0; at < inner.length; at = piece.lastIndex) {
    piece.lastIndex = at;
    const match = piece.exec(inner);
    if (match === null) return undefined;
    const [whole, simple, hex, octal, short, long] = match;
    if (simple !== undefined) {
      if ((simple === '"' || simple === "'") && simple !== quote) return undefined;
      out.push(Buffer.from([SIMPLE[simple] ?? simple.charCodeAt(0)]));
    } else if (hex !== undefined || octal !== undefined) {
      const byte = hex === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(hex, 16);
      if (byte > 255) return undefined;
      out.push(Buffer.from([byte]));
    } else if (short !== undefined || long !== undefined) {
      const point = Number.parseInt(short ?? long ?? '', 16);
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
      out.push(Buffer.from(String.fromCodePoint(point)));
    } else {
      out.push(Buffer.from(whole));
    }
  }
  return bytesToText(Buffer.concat(out));
}

/** The value of a number literal, and whether Go takes it for a float; undefined when it is no number. */
export function readGoNumber(literal: string): { value: number; float: boolean } | undefined {
  if (/^[+-]?_|__|_$/.test(literal) || /_[.eE]|[.eE+]_/.test(literal)) return undefined;
  const negative = literal.startsWith('-');
  const digits = literal.replace(/^[+-]/, '').replaceAll('_', '');
  let value: number;
  let float = false;
  if (/^0[xX][\da-fA-F]+$/.test(digits) || /^0[bB][01]+$/.test(digits) || /^0[oO][0-7]+$/.test(digits)) value = Number(digits);
  else if (/^0[0-7]+$/.test(digits)) value = Number.parseInt(digits, 8);
  else if (/^(?:0|[1-9]\d*)$/.test(digits)) value = Number(digits);
  else if (/^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(digits) && /[.eE]/.test(digits)) {
    value = Number(digits);
    float = true;
  } else return undefined;
  if (!Number.isFinite(value) || (!float && !Number.isSafeInteger(value))) return undefined;
  return { value: negative ? 0 - value : value, float };
}
