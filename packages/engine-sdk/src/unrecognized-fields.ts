import { closest } from './closest.ts';

/** The number of unknown fields for which the warning suggests a known one. */
const GUESSED = 10;

/** The warnings about fields that had no effect; none for none. `prefix`: where they stand, such as `options.`. */
export function unrecognizedFields(unknown: readonly string[], known: Iterable<string>, prefix = ''): string[] {
  if (unknown.length === 0) return [];
  const candidates = [...known];
  const warnings = [`Endpoint ignored these unrecognized parameters: [${unknown.map((name) => prefix + name).join(' ')}]`];
  for (const name of unknown.slice(0, GUESSED)) {
    const [outer = '', ...inner] = name.split('.');
    const meant = closest(name, candidates);
    if (prefix === '' && inner.length > 0 && candidates.includes(outer)) {
      warnings.push(`${prefix}${name} is not a field here; send ${inner.join('.')} inside the object ${prefix}${outer}`);
    } else if (meant !== undefined) warnings.push(`${prefix}${name} is not a field here; did you mean ${prefix}${meant}?`);
  }
  return warnings;
}
