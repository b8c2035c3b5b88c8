import { type ConnectionIdentity, systemName, type UserRequest } from '@strongroom/database-sdk';
import type { MysqlConnection } from './connection-schema.ts';
import { parseConnectionString } from './connection-string.ts';

/** The host part of a user in a statement: `'{{name}}'@'localhost'`. */
const HOST_OF_USER = /\{\{(?:name|username)\}\}['"`]?\s*@\s*['"`]?([\w.:%/-]+)/;

export function identify(config: MysqlConnection): ConnectionIdentity {
  const { addresses, user } = parseConnectionString(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping });
  const places = addresses.map((address) => ('socketPath' in address ? { host: address.socketPath } : address));
  return { system: systemName('mysql', places), username: user };
}

/** `user@host`: a user is another one at another host. Hosts are compared without regard to capitals, names byte by byte. */
export function canonicalUser({ username, statements }: Pick<UserRequest, 'username' | 'statements'>): string {
  const host = statements.commands.map((command) => HOST_OF_USER.exec(command)?.[1]).find((found) => found !== undefined) ?? '%';
  return `${username}@${host.toLowerCase()}`;
}
