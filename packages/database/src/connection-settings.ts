import type { EngineHost } from '@strongroom/engine-sdk';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { AnyDatabasePlugin } from './plugin-catalog.ts';
import { DatabaseMisused } from './call-failed.ts';

const ajv = new Ajv({ allErrors: true, strict: false, coerceTypes: true, useDefaults: true, logger: false });
const validators = new WeakMap<AnyDatabasePlugin, ValidateFunction>();

/**
 * What the plugin's `open` gets: the stored details with the types and defaults of its schema, since clients send numbers as text.
 * @throws DatabaseMisused that names the fields and shows no value.
 */
export function settingsFor(plugin: AnyDatabasePlugin, details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  let validate = validators.get(plugin);
  if (!validate) validators.set(plugin, (validate = ajv.compile(plugin.connection)));
  const settings = structuredClone(details) as Record<string, unknown>;
  if (validate(settings)) return settings;
  throw new DatabaseMisused([...new Set((validate.errors ?? []).map(complaint))].join('; '));
}

/** What limits the connections of a whole server. */
const POOL_SIZES = ['max_open_connections', 'max_idle_connections'];

/** The same settings with the part of the limits that this process of the server has; 0 stays what the plugin takes it for. */
export function poolsShared(settings: Record<string, unknown>, { shareOf }: Pick<EngineHost, 'shareOf'>): Record<string, unknown> {
  if (!shareOf) return settings;
  const sizes = POOL_SIZES.flatMap((name) => {
    const limit = settings[name];
    return typeof limit === 'number' && limit > 0 ? [[name, shareOf(limit)] as const] : [];
  });
  return { ...settings, ...Object.fromEntries(sizes) };
}

function complaint({ keyword, instancePath, params, message }: ErrorObject): string {
  const field = instancePath.slice(1).replaceAll('/', '.');
  if (keyword === 'required') return `${String(params['missingProperty'])} cannot be empty`;
  if (keyword === 'minLength') return `${field} cannot be empty`;
  if (keyword === 'enum') return `${field} must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
  return `${field} ${message ?? 'is not valid'}`.trim();
}
