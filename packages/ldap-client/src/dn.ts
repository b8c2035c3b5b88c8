/** One `type=value` pair. `encoded` marks a `#hex` value whose BER is not a string; then `value` is the text after `#`, lower-cased. */
export interface NamePart {
  readonly type: string;
  readonly value: string;
  readonly encoded?: true;
}

/** A relative name: one part, or several joined by `+`. */
export type RelativeName = readonly NamePart[];

/** A distinguished name, leaf first. The empty name is the root. */
export type DistinguishedName = readonly RelativeName[];

export class DnSyntaxError extends Error {
  override readonly name = 'DnSyntaxError';
}

const typePattern = /^(?:[A-Za-z][A-Za-z0-9-]*|[0-9]+(?:\.[0-9]+)*|(?:oid|OID)\.[0-9]+(?:\.[0-9]+)*)$/;
const stringTags = new Set([0x04, 0x0c, 0x13, 0x14, 0x16, 0x1a]);

/** Parses an RFC 4514 name (and RFC 2253's `;` and spaces around separators). Throws `DnSyntaxError`. */
export function parseDn(text: string): DistinguishedName {
  const names: NamePart[][] = [];
  if (text.trim() === '') return names;
  let parts: NamePart[] = [];
  let position = 0;
  for (;;) {
    const equals = text.indexOf('=', position);
    if (equals < 0) throw new DnSyntaxError(`no "=" after position ${position} of the name`);
    const type = text.slice(position, equals).trim();
    if (!typePattern.test(type)) throw new DnSyntaxError(`not an attribute type at position ${position} of the name`);
    const end = endOfValue(text, equals + 1);
    parts.push({ type, ...decodeValue(text.slice(equals + 1, end), equals + 1) });
    const separator = text[end];
    if (separator !== '+') {
      names.push(parts);
      parts = [];
    }
    if (separator === undefined) return names;
    position = end + 1;
  }
}

function endOfValue(text: string, start: number): number {
  let quoted = false;
  for (let index = start; index < text.length; index++) {
    const char = text[index]!;
    if (char === '\\') index++;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && (char === ',' || char === '+' || char === ';')) return index;
  }
  if (quoted) throw new DnSyntaxError('a quoted value of the name does not end');
  return text.length;
}

function decodeValue(raw: string, position: number): Omit<NamePart, 'type'> {
  let text = raw.replace(/^ +/, '');
  text = text.replace(/(\\*)( +)$/, (_whole, slashes: string, spaces: string) =>
    slashes.length % 2 === 1 ? `${slashes} ` : slashes + spaces.slice(0, 0),
  );
  if (text.startsWith('#')) return decodeHex(text.slice(1), position);
  if (text.length >= 2 && text.startsWith('"') && text.endsWith('"')) text = text.slice(1, -1);
  if (!text.includes('\\')) return { value: text };
  const chunks: Buffer[] = [];
  for (let index = 0; index < text.length;) {
    const slash = text.indexOf('\\', index);
    if (slash < 0) {
      chunks.push(Buffer.from(text.slice(index)));
      break;
    }
    if (slash > index) chunks.push(Buffer.from(text.slice(index, slash)));
    const pair = text.slice(slash + 1, slash + 3);
    if (/^[0-9a-fA-F]{2}$/.test(pair)) {
      chunks.push(Buffer.from(pair, 'hex'));
      index = slash + 3;
    } else if (pair !== '') {
      const char = String.fromCodePoint(text.codePointAt(slash + 1)!);
      chunks.push(Buffer.from(char));
      index = slash + 1 + char.length;
    } else throw new DnSyntaxError(`a backslash escapes nothing in the value at position ${position} of the name`);
  }
  return { value: Buffer.concat(chunks).toString('utf8') };
}

function decodeHex(digits: string, position: number): Omit<NamePart, 'type'> {
  if (digits === '' || digits.length % 2 === 1 || !/^[0-9a-fA-F]+$/.test(digits))
    throw new DnSyntaxError(`not a #hex value at position ${position} of the name`);
  const ber = Buffer.from(digits, 'hex');
  if (stringTags.has(ber[0]!) && ber[1] === ber.length - 2 && ber.length - 2 < 0x80) return { value: ber.toString('utf8', 2) };
  return { value: digits.toLowerCase(), encoded: true };
}

/** Writes a name by RFC 4514: no spaces around separators, only what must be escaped is. */
export function formatDn(name: DistinguishedName): string {
  return name.map((parts) => parts.map((part) => `${part.type}=${formatValue(part)}`).join('+')).join(',');
}

function formatValue({ value, encoded }: NamePart): string {
  if (encoded) return `#${value}`;
  return value
    .replace(/["+,;<>\\]/g, '\\$&')
    .replace(/\0/g, '\\00')
    .replace(/^[ #]/, '\\$&')
    .replace(/ $/, (space, offset: number, whole: string) => (offset === 1 && whole[0] === '\\' ? space : '\\ '));
}

/** One variant for all names that are the same: lower case, runs of spaces collapsed, the parts of a relative name in order. */
export function normalizeDn(text: string): string {
  return formatDn(
    parseDn(text).map((parts) =>
      parts
        .map((part) => ({
          ...part,
          type: part.type.toLowerCase().replace(/^oid\./, ''),
          value: part.value.toLowerCase().replace(/ +/g, ' ').trim(),
        }))
        .sort((a, b) => (a.type === b.type ? compare(a.value, b.value) : compare(a.type, b.type))),
    ),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether two texts name the same entry, ignoring case. Texts that are not names are never the same. */
export function sameDn(a: string, b: string): boolean {
  try {
    return normalizeDn(a) === normalizeDn(b);
  } catch (error) {
    if (error instanceof DnSyntaxError) return false;
    throw error;
  }
}

/** Whether a text is a name at all. The empty text is: it names the root. */
export function isDn(text: string): boolean {
  try {
    parseDn(text);
    return true;
  } catch (error) {
    if (error instanceof DnSyntaxError) return false;
    throw error;
  }
}

/** The name of the entry above; undefined for the root and for what is not a name. */
export function parentDn(text: string): string | undefined {
  if (!isDn(text)) return undefined;
  const name = parseDn(text);
  return name.length === 0 ? undefined : formatDn(name.slice(1));
}

/**
 * The first `CN` in a name, from the leaf up; undefined when there is none or the text is no name.
 * With `exactCase` only the variant `CN` counts, as servers before 1.11 had it.
 */
export function commonNameOf(text: string, options: { exactCase?: boolean } = {}): string | undefined {
  if (!isDn(text)) return undefined;
  for (const parts of parseDn(text))
    for (const part of parts) if (options.exactCase === true ? part.type === 'CN' : part.type.toLowerCase() === 'cn') return part.value;
  return undefined;
}
