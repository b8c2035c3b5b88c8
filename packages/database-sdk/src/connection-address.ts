import type { TObject } from 'typebox';
import { maskConnectionUrl, secretFields } from './connection-secrets.ts';
import type { ConnectionIdentity } from './plugin.ts';

interface Annotated {
  readonly address?: boolean;
  readonly safe?: unknown;
  readonly default?: unknown;
}

/** Fields of many plugins that send nothing anywhere. */
const HARMLESS: ReadonlySet<string> = new Set([
  'username_template',
  'max_open_connections',
  'max_idle_connections',
  'max_connection_lifetime',
]);

type Details = Readonly<Record<string, unknown>>;

/**
 * Of these fields of a connection, those that decide where its secrets are sent, and how safely. A field that the schema does not know counts: nobody
 * said that it is harmless.
 */
export function addressFields(schema: TObject, names: Iterable<string>): string[] {
  const secrets = new Set(secretFields(schema));
  return [...names].filter((name) => annotationOf(schema, name).address ?? (!secrets.has(name) && !HARMLESS.has(name)));
}

/** Whether the field has the value now that makes a connection safer only. */
export function isSaferValue(schema: TObject, name: string, value: unknown): boolean {
  const annotation = annotationOf(schema, name);
  if (!('safe' in annotation)) return false;
  // Clients send booleans as text.
  return String(value ?? annotation.default) === String(annotation.safe);
}

/** What identifies a connection of a plugin that does not say: where its hosts, ports and URLs lead. */
export function defaultIdentity(plugin: { readonly name: string; readonly connection: TObject }, details: Details): ConnectionIdentity {
  const { username } = details;
  const secrets = new Set(secretFields(plugin.connection));
  const parts = Object.keys(plugin.connection.properties)
    .filter((name) =>
      /^(?:connection_)?(?:url|uri|dsn|string)$|^(?:hosts?|ports?|server|endpoint|address(?:es)?|cluster|account)$/i.test(name),
    )
    .filter((name) => !secrets.has(name))
    .flatMap((name) => {
      const value = details[name] ?? annotationOf(plugin.connection, name).default;
      return value === undefined || value === '' ? [] : [`${name}=${placeOf(String(value))}`];
    });
  return { system: `${plugin.name}:${parts.join(' ')}`, username: typeof username === 'string' && username !== '' ? username : undefined };
}

/** Of a URL the part that names hosts; of anything else all but its secrets. */
function placeOf(text: string): string {
  const authority = /^\s*[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(text)?.[1];
  if (authority !== undefined) return authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  const masked = maskConnectionUrl(text);
  return masked
    .slice(masked.lastIndexOf('@') + 1)
    .toLowerCase()
    .trim();
}

/** The canonical form of where a system is, from the places at which it can be reached: `postgresql://db-1:5432,db-2:5432`. For `identify` of plugins. */
export function systemName(scheme: string, places: readonly { readonly host: string; readonly port?: number | undefined }[]): string {
  const names = places.map(({ host, port }) => `${hostName(host)}${port === undefined ? '' : `:${port}`}`);
  return `${scheme}://${[...new Set(names)].sort().join(',')}`;
}

function hostName(host: string): string {
  const bare = host
    .trim()
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/(?<=.)\.$/, '');
  if (bare === '::1' || /^127\.\d+\.\d+\.\d+$/.test(bare)) return 'localhost';
  return bare.includes(':') ? `[${bare}]` : bare;
}

function annotationOf(schema: TObject, name: string): Annotated {
  return Object.hasOwn(schema.properties, name) ? (schema.properties[name] as Annotated) : {};
}
