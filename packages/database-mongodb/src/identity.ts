import { type ConnectionIdentity, renderConnectionUrl, systemName, type UserRequest } from '@strongroom/database-sdk';
import { rotationDb } from './commands.ts';
import type { MongodbConnection } from './connection-schema.ts';

const DEFAULT_PORT = 27_017;

export function identify(config: MongodbConnection): ConnectionIdentity {
  const { hosts, isList, user } = partsOf(config);
  const places = hosts.split(',').map((entry) => {
    const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(entry)!;
    return { host, port: isList ? undefined : Number(port ?? DEFAULT_PORT) };
  });
  return { system: systemName('mongodb', places), username: user || config.username || undefined };
}

/** `database.user`: a user is another one in another database. */
export function canonicalUser({ username, statements }: Pick<UserRequest, 'username' | 'statements'>, config: MongodbConnection): string {
  return `${rotationDb(statements.commands, username) ?? partsOf(config).db}.${username}`;
}

function partsOf(config: MongodbConnection): { hosts: string; isList: boolean; user: string; db: string } {
  const url = renderConnectionUrl((config.connection_url ?? '').trim(), config, { disableEscaping: config.disable_escaping, form: 'url' });
  const [, scheme = '', authority = '', path = '', query = ''] = /^([^:]*):\/\/([^/?]*)\/?([^?]*)\??(.*)$/.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  const source = new URLSearchParams(query).get('authSource') ?? '';
  return {
    hosts: authority.slice(at + 1),
    isList: scheme.endsWith('+srv'),
    user: at < 0 ? '' : decodeURIComponent(authority.slice(0, at).split(':')[0]!),
    db: (source === '$external' ? '' : source) || decodeURIComponent(path) || 'admin',
  };
}
