const spaces = /[\t-\r\u0085\p{Z}]+/gu;
/** What RFC 4518 (section 2.2) maps to nothing. NUL stays: no name may have one, and dropping it would hide that. */
const ignored = /(?!\0)[\p{Cc}\p{Cf}\u034f\u180b-\u180d\ufe00-\ufe0f\ufffc]/gu;

/** Visible ASCII with single spaces in between: nothing but the case can fold. */
const simple = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/**
 * The canonical form of all variants of a name that LDAP's caseIgnoreMatch considers equal (RFC 4518). Compatibility forms such as full-width letters are
 * replaced (NFKC), accents are composed, invisible characters are removed, case is folded, and any sequence of spaces becomes one space, or none at the ends.
 * Idempotent. With `keepCase`, everything except the case is folded.
 */
export function foldName(name: string, { keepCase = false }: { readonly keepCase?: boolean } = {}): string {
  if (simple.test(name)) return keepCase ? name : name.toLowerCase();
  let folded = name;
  // Lower case can need composing again. Twice has always been enough; the bound is for what Unicode may yet add.
  for (let round = 0; round < 8; round += 1) {
    const next = foldOnce(folded, keepCase);
    if (next === folded) return folded;
    folded = next;
  }
  return folded;
}

function foldOnce(name: string, keepCase: boolean): string {
  const plain = name.replace(spaces, ' ').replace(ignored, '').normalize('NFKC');
  const cased = keepCase ? plain : plain.toLowerCase().replaceAll('ς', 'σ').replaceAll('ß', 'ss');
  return cased.replace(spaces, ' ').trim();
}
