import { fieldSpec, unrecognizedFields, type Decoded } from '@strongroom/engine-sdk';
import type { TSchema } from 'typebox';
import type { Call } from './call.ts';

const NONE: readonly string[] = [];

/**
 * What a caller must know of fields that had no effect. `answered`: there is an answer in any case; without one a value that the path gives all the
 * same is no reason to make one.
 */
export function ignoredFields(call: Call, decoded: Decoded, answered: boolean): readonly string[] {
  if (decoded.unknown.length === 0 && decoded.replaced.length === 0) return NONE;
  const { captures, path } = call.match!;
  const warnings: string[] = [];
  if (decoded.unknown.length > 0 && !path.declaration.about.arbitraryData) {
    warnings.push(...unrecognizedFields(decoded.unknown, knownFields(path.declaration.about.fields as Record<string, TSchema>, captures)));
  }
  const replaced = answered ? decoded.replaced : decoded.replaced.filter((name) => call.data[name] !== captures[name]);
  if (replaced.length > 0) {
    warnings.push(
      `Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [${replaced.join(' ')}]`,
    );
  }
  return warnings;
}

/** For an answer that says what is wrong with the fields: those that the caller is likely to have misspelt. */
export function misspeltFields(call: Call): readonly string[] {
  if (!call.match) return NONE;
  const { captures, path } = call.match;
  const { about } = path.declaration;
  const sent = Object.keys(call.data);
  if (sent.length === 0 || about.arbitraryData) return NONE;
  const known = knownFields(about.fields as Record<string, TSchema>, captures);
  const unknown = sent.filter((name) => !known.includes(name) && !Object.hasOwn(captures, name));
  // The first line says that they were ignored. What was sent as well was not misspelt.
  return unrecognizedFields(
    unknown,
    known.filter((name) => !Object.hasOwn(call.data, name)),
  ).slice(1);
}

/** Names that a caller can send: what the path itself gives is none of them. */
function knownFields(fields: Record<string, TSchema>, captures: Readonly<Record<string, string>>): string[] {
  return Object.entries(fields).flatMap(([name, schema]) =>
    Object.hasOwn(captures, name) ? [] : [name, ...(fieldSpec(schema).aliases ?? [])],
  );
}
