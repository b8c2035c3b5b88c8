import { fieldSpec } from '@strongroom/engine-sdk';
import type { TObject, TSchema } from 'typebox';

/** What stands in the place of a secret in answers; sent back, it means: keep what is stored. */
export const MASK = '*****';

/** Names of the fields that hold secrets. */
export function secretFields(schema: TObject): string[] {
  return Object.entries(schema.properties as Record<string, TSchema>).flatMap(([name, field]) => (fieldSpec(field).secret ? [name] : []));
}

/** The secrets of a connection or account, in clear: what must not be shown anywhere. */
export function secretsOf(schema: TObject, values: Readonly<Record<string, unknown>>): string[] {
  return secretFields(schema).flatMap((name) => {
    const value = values[name];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
}

/** What of a connection or account is shown: fields that are set, secrets as `*****`. */
export function maskedFields(schema: TObject, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const secrets = new Set(secretFields(schema));
  const shown: Record<string, unknown> = {};
  for (const name of Object.keys(schema.properties)) {
    const value = values[name];
    if (value !== undefined && value !== '') shown[name] = secrets.has(name) ? MASK : value;
  }
  return shown;
}
