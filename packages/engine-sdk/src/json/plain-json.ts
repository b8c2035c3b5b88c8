import { ExactNumber } from './exact-number.ts';
import { MAX_NUMBER_LENGTH, type JsonLimits } from './json-reader.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether `JSON.parse` reads a short text as `JsonReader` would: no number loses digits, and no limit is reached, whether or not the text is JSON at all.
 * Looks at each character outside strings once.
 */
export function isPlainJson(text: string, { maxDepth, maxStrings, maxValues }: JsonLimits): boolean {
  // The shortest string is `"",` and the shortest value `1,`.
  if (text.length > 3 * maxStrings || text.length > 2 * maxValues) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at + 1);
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return false;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = numberEnd(text, at + 1);
      if (end - at > MAX_NUMBER_LENGTH || ExactNumber.needed(text.slice(at, end))) return false;
      at = end - 1;
    }
  }
  return true;
}

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

function numberEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const part = (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === 0x2d || code === 0x45 || code === 0x65;
    if (!part) break;
  }
  return at;
}
