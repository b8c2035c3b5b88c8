import { isPrintable } from './go-quote.ts';
import { textToBytes } from './text-bytes.ts';

const HTML: Readonly<Record<string, string>> = { '"': '&#34;', "'": '&#39;', '&': '&amp;', '<': '&lt;', '>': '&gt;', '\0': '\ufffd' };

/** What the template function `html` makes of a text. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/["'&<>\0]/g, (char) => HTML[char] ?? char);
}

/** What the template function `js` makes of a text. */
export function escapeJs(text: string): string {
  return text.replaceAll(/[\x00-\x1f\\'"<>&=]|[^\x00-\x7f]/gu, (char) => {
    if (char === '\\' || char === "'" || char === '"') return `\\${char}`;
    const code = char.codePointAt(0) ?? 0;
    return code >= 0x80 && isPrintable(char) ? char : `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/** What the template function `urlquery` makes of a text. */
export function escapeQuery(text: string): string {
  let out = '';
  for (const byte of textToBytes(text)) {
    const char = String.fromCharCode(byte);
    if (/[A-Za-z0-9_.~-]/.test(char)) out += char;
    else out += char === ' ' ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}
