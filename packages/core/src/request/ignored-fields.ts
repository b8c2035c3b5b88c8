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

/** Names that a caller can send: what the path itself gives is none of them. */
function knownFields(fields: Record<string, TSchema>, captures: Readonly<Record<string, string>>): string[] {
  return Object.entries(fields).flatMap(([name, schema]) =>
    Object.hasOwn(captures, name) ? [] : [name, ...(fieldSpec(schema).aliases ?? [])],
  );
}
