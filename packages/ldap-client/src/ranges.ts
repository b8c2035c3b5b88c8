import { LdapEntry } from './entry.ts';

/** A piece of an attribute that Active Directory shows only so many values of at once, as in `member;range=0-1499`. */
interface Piece {
  readonly variant: string;
  readonly attribute: string;
  /** Where the next piece begins; undefined after the last, `member;range=1500-*`. */
  readonly next: number | undefined;
}

const pattern = /^(.+);range=\d+-(\d+|\*)$/i;

/** Whether the caller asks for pieces itself, and gets what it asks for. */
export function asksForRange(attributes: readonly string[] | undefined): boolean {
  return attributes?.some((name) => pattern.test(name)) ?? false;
}

function pieceOf(variant: string): Piece | undefined {
  const [, attribute, last] = pattern.exec(variant) ?? [];
  if (attribute === undefined) return undefined;
  return { variant, attribute, next: last === '*' ? undefined : Number(last) + 1 };
}

/** The entry with all values of the attributes that came in pieces; `fetch` reads one attribute of it. The same entry when none did. */
export async function completed(entry: LdapEntry, fetch: (attribute: string) => Promise<LdapEntry | undefined>): Promise<LdapEntry> {
  const pieces = [...entry.attributes.keys()].flatMap((name) => pieceOf(name) ?? []);
  if (pieces.length === 0) return entry;
  const attributes = new Map(entry.attributes);
  for (const first of pieces) {
    attributes.delete(first.variant);
    // Beside the piece the server shows the attribute itself, without a value.
    attributes.set(entry.spellingOf(first.attribute) ?? first.attribute, await allValues(entry, first, fetch));
  }
  return new LdapEntry(entry.dn, attributes, entry.server);
}

async function allValues(
  entry: LdapEntry,
  first: Piece,
  fetch: (attribute: string) => Promise<LdapEntry | undefined>,
): Promise<readonly Buffer[]> {
  const values = [...entry.buffers(first.variant)];
  for (let start = first.next; start !== undefined;) {
    const more = await fetch(`${first.attribute};range=${start}-*`);
    const piece: Piece | undefined = [...(more?.attributes.keys() ?? [])]
      .flatMap((name) => pieceOf(name) ?? [])
      .find(({ attribute }) => attribute.toLowerCase() === first.attribute.toLowerCase());
    // None when the values have been taken away meanwhile.
    if (more === undefined || piece === undefined) return values;
    values.push(...more.buffers(piece.variant));
    if (piece.next !== undefined && piece.next <= start) return values;
    start = piece.next;
  }
  return values;
}
