import { type ConnectionIdentity, systemName } from '@strongroom/database-sdk';
import type { MssqlConnection } from './connection-schema.ts';
import { parseConnectionString } from './connection-string.ts';

/** Logins belong to the server, users of a contained database to that. */
export function identify(config: MssqlConnection): ConnectionIdentity {
  const target = parseConnectionString(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping });
  // The failover partner has the same logins, and need not be named everywhere.
  const { host, port, instance } = target.addresses[0]!;
  const server = systemName('sqlserver', [
    { host: instance === undefined ? host : `${host}\\${instance}`, port: port ?? (instance === undefined ? 1433 : undefined) },
  ]);
  return { system: config.contained_db ? `${server}/${(target.database ?? '').toLowerCase()}` : server, username: target.user };
}

/** By nearly all collations capitals do not make another login. */
export function canonicalUser({ username }: { readonly username: string }): string {
  return username.toLowerCase();
}
