import { type ConnectionIdentity, renderConnectionUrl, systemName } from '@strongroom/database-sdk';
import type { PostgresqlConnection } from './connection-schema.ts';
import { type ConnectionTarget, parseConnectionString } from './connection-string.ts';
import { USERNAME_MAX_LENGTH } from './default-statements.ts';

/** Where the settings of a connection lead, with its user name and password put in. Throws ConfigurationInvalid. */
export function targetOf(config: PostgresqlConnection): ConnectionTarget {
  return parseConnectionString(renderConnectionUrl(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping }));
}

/** Users belong to the server, whatever database the connection names. */
export function identify(config: PostgresqlConnection): ConnectionIdentity {
  const { hosts, user } = targetOf(config);
  return { system: systemName('postgresql', hosts), username: user ?? (config.username || undefined) };
}

/** The server cuts names that are too long, without a word. */
export function canonicalUser({ username }: { readonly username: string }): string {
  return Buffer.from(username).subarray(0, USERNAME_MAX_LENGTH).toString();
}
