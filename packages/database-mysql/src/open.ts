import { parseDuration } from '@strongroom/engine-sdk';
import { ConfigurationInvalid, connectionSecrets, type DatabaseHost, type DatabaseSession } from '@strongroom/database-sdk';
import { MysqlConnection } from './connection-schema.ts';
import { parseConnectionString } from './connection-string.ts';
import { Dialer } from './dial.ts';
import { ConnectionPool } from './pool.ts';
import { MysqlSession } from './session.ts';
import { tlsChoices } from './tls.ts';

const DEFAULT_MAX_OPEN = 4;

/** Checks the settings and prepares a pool that has not connected yet. */
export async function openMysql(config: MysqlConnection, host: DatabaseHost): Promise<DatabaseSession> {
  const target = parseConnectionString(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping });
  const tls = tlsChoices(target.parameters.get('tls'), config);
  const maxOpen = config.max_open_connections || DEFAULT_MAX_OPEN;
  const secrets = {
    ...connectionSecrets(MysqlConnection, config),
    ...(target.password !== undefined && { password: target.password }),
  };
  const settings = {
    maxOpen,
    maxIdle: Math.min(config.max_idle_connections || maxOpen, maxOpen),
    lifetimeMs: parseLifetime(config.max_connection_lifetime ?? 0) * 1000,
  };
  const [{ default: knex }, { default: mysql }] = await Promise.all([import('knex'), import('mysql2')]);
  const dialer = new Dialer(mysql.createConnection, { target, tls, serverName: config.tls_server_name || undefined, secrets });
  return new MysqlSession(new ConnectionPool(knex, dialer, settings), secrets, host.log);
}

function parseLifetime(value: string | number): number {
  try {
    return Math.max(0, parseDuration(value));
  } catch {
    throw new ConfigurationInvalid('max_connection_lifetime must be a duration, such as "30m"');
  }
}
