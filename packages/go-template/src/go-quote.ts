const SHORT: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Whether Go prints the character as it is: letters, marks, digits, punctuation, symbols, the plain space. */
export function isPrintable(char: string): boolean {
  return PRINTABLE.test(char);
}

/** The text as a quoted Go string, as `%q` prints it; with `ascii` as `%+q`. */
export function goQuote(text: string, ascii = false, quote: '"' | "'" = '"'): string {
  let out = quote as string;
  for (const char of text) out += escaped(char, quote, ascii);
  return out + quote;
}

/** Whether `%#q` may use backquotes. */
export function canBackquote(text: string): boolean {
  return !/[\x00-\x08\x0a-\x1f`\x7f\ufeff\ud800-\udfff]/.test(text.replace(/[\u{10000}-\u{10ffff}]/gu, ''));
}

function escaped(char: string, quote: string, ascii: boolean): string {
  if (char === quote) return `\\${quote}`;
  const short = SHORT[char];
  if (short !== undefined) return short;
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  if (code >= 0xd800 && code <= 0xdfff) return ascii ? '\\ufffd' : '\ufffd';
  if (isPrintable(char) && (!ascii || code < 0x80)) return char;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}
