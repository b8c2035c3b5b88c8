const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

/**
 * The text between two quotes of HCL with its escapes resolved: those of Go (`\n`, `\x41`, `\101`, `\u00e9`, `\U0001F600`);
 * what stands in `${…}` stays as written. Undefined when an escape is wrong.
 */
export function unquoteHcl(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted;
  const out: Buffer[] = [];
  const text = /[^\\$]+|\$(?!\{)/y;
  let at = 0;
  while (at < quoted.length) {
    text.lastIndex = at;
    const plain = text.exec(quoted)?.[0];
    if (plain !== undefined) {
      out.push(Buffer.from(plain));
      at += plain.length;
    } else if (quoted[at] === '$') {
      const end = interpolationEnd(quoted, at);
      out.push(Buffer.from(quoted.slice(at, end)));
      at = end;
    } else {
      const escape = readEscape(quoted, at);
      if (escape === undefined) return undefined;
      out.push(escape.bytes);
      at = escape.end;
    }
  }
  return Buffer.concat(out).toString('utf8');
}

function interpolationEnd(quoted: string, start: number): number {
  let braces = 0;
  for (let at = start; at < quoted.length; at += 1) {
    if (quoted[at] === '{') braces += 1;
    else if (quoted[at] === '}') {
      braces -= 1;
      if (braces === 0) return at + 1;
    }
  }
  return quoted.length;
}

function readEscape(quoted: string, start: number): { bytes: Buffer; end: number } | undefined {
  const simple = SIMPLE[quoted[start + 1] ?? ''];
  if (simple !== undefined) return { bytes: Buffer.from(simple), end: start + 2 };
  const pattern = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/y;
  pattern.lastIndex = start;
  const match = pattern.exec(quoted);
  if (match === null) return undefined;
  const [whole, byte, short, long, octal] = match;
  const end = start + whole.length;
  if (byte !== undefined) return { bytes: Buffer.from([Number.parseInt(byte, 16)]), end };
  if (octal !== undefined) {
    const value = Number.parseInt(octal, 8);
    return value > 255 ? undefined : { bytes: Buffer.from([value]), end };
  }
  const point = Number.parseInt(short ?? long ?? '', 16);
  return point > 0x10ffff ? undefined : { bytes: Buffer.from(String.fromCodePoint(point)), end };
}
