import { Refusal } from './refusal.ts';

export interface JsonLimits {
  /** Strings in one body, keys included. */
  readonly maxStrings: number;
  /** Objects and lists within each other. */
  readonly maxDepth: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Refuses a text that would cost more to take apart than any real request does, before it is taken apart. Looks at each character
 * once; texts too short to break a limit are not looked at.
 * @throws Refusal (400)
 */
export function refuseComplexJson(text: string, { maxStrings, maxDepth }: JsonLimits): void {
  if (text.length <= maxDepth && text.length < 3 * maxStrings) return;
  let depth = 0;
  let strings = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      strings += 1;
      if (strings > maxStrings) throw tooComplex('number of strings');
      at = closingQuote(text, at + 1);
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > maxDepth) throw tooComplex('nesting depth');
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
}

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

function tooComplex(what: string): Refusal {
  return new Refusal(400, `failed to decode JSON input: refused JSON input due to high complexity: exceeded maximum ${what}`);
}
