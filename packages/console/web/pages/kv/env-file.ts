import { valueText, type Leaf } from './leaves.ts';

const NAME = /^[A-Za-z_]\w*$/;

/** The values as a `.env` file. Keys below keys are joined by `_`; names that a shell does not take are left out, and listed. */
export function envOf(leaves: readonly Leaf[]): { readonly text: string; readonly leftOut: readonly string[] } {
  const lines: string[] = [];
  const leftOut: string[] = [];
  const taken = new Set<string>();
  for (const { path, value } of leaves) {
    const name = path.join('_');
    if (!NAME.test(name) || taken.has(name)) leftOut.push(path.join('.'));
    else lines.push(`${name}=${quoted(valueText(value))}`);
    taken.add(name);
  }
  return { text: lines.map((line) => `${line}\n`).join(''), leftOut };
}

function quoted(text: string): string {
  if (/^[\w@%+:,./-]+$/.test(text)) return text;
  if (!/['\n\r]/.test(text)) return `'${text}'`;
  return `"${text
    .replace(/[\\"$`]/g, (char) => `\\${char}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')}"`;
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Reads a `.env` file. `faults` names lines that are none, without what is in them. A name that stands twice has its last value. */
export function readEnv(text: string): { readonly leaves: readonly Leaf[]; readonly faults: readonly string[] } {
  const values = new Map<string, string>();
  const faults: string[] = [];
  const line =
    /[ \t]*(?:(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(?:"((?:\\[^]|[^"\\])*)"|'([^']*)'|([^\n'"#][^\n]*?|))(?:[ \t]+#[^\n]*)?[ \t]*|#[^\n]*|)\r?(?:\n|$)/y;
  let at = 0;
  while (at < text.length) {
    line.lastIndex = at;
    const found = line.exec(text);
    if (!found) {
      faults.push(`Line ${text.slice(0, at).split('\n').length} is no line of a .env file.`);
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end + 1;
      continue;
    }
    at = line.lastIndex;
    const [, name, double, single, bare = ''] = found;
    if (name === undefined) continue;
    const escaped = double?.replace(/\\([^])/g, (_whole, char: string) => ESCAPED[char] ?? char);
    values.set(name, escaped ?? single ?? bare);
  }
  return { leaves: [...values].map(([name, value]) => ({ path: [name], value })), faults };
}
