import { closest } from './closest.ts';

/** The number of unknown fields that the warning names, and that for which it suggests a known one. */
const NAMED = 100;
const GUESSED = 10;
/** Characters of a name that are shown. */
const SHOWN = 100;

/** The warnings about fields that had no effect; none for none. `prefix`: where they stand, such as `options.`. */
export function unrecognizedFields(unknown: readonly string[], known: Iterable<string>, prefix = ''): string[] {
  if (unknown.length === 0) return [];
  const candidates = [...known];
  const named = unknown.slice(0, NAMED).map((name) => printable(name.length > SHOWN ? `${name.slice(0, SHOWN)}…` : name));
  const more = unknown.length > NAMED ? ` and ${unknown.length - NAMED} more` : '';
  const warnings = [`Endpoint ignored these unrecognized parameters: [${named.map((name) => prefix + name).join(' ')}${more}]`];
  for (const name of named.slice(0, GUESSED)) {
    const [outer = '', ...inner] = name.split('.');
    const meant = closest(name, candidates);
    if (prefix === '' && inner.length > 0 && candidates.includes(outer)) {
      warnings.push(`${prefix}${name} is not a field here; send ${inner.join('.')} inside the object ${prefix}${outer}`);
    } else if (meant !== undefined) warnings.push(`${prefix}${name} is not a field here; did you mean ${prefix}${meant}?`);
  }
  return warnings;
}

/** What would move the cursor of a terminal, or turn the direction of a line. */
function printable(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}]/gu, '?');
}
