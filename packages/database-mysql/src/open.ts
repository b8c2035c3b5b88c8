import { openKnexPool, poolSettings } from '@strongroom/database-knex';
import { connectionSecrets, type DatabaseHost, type DatabaseSession } from '@strongroom/database-sdk';
import { MysqlConnection } from './connection-schema.ts';
import { connectionDriver } from './connection-driver.ts';
import { parseConnectionString } from './connection-string.ts';
import { Dialer } from './dial.ts';
import { MysqlSession } from './session.ts';
import { tlsChoices } from './tls.ts';

/** Checks the settings and prepares a pool that has not connected yet. */
export async function openMysql(config: MysqlConnection, host: DatabaseHost): Promise<DatabaseSession> {
  const target = parseConnectionString(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping });
  const tls = tlsChoices(target.parameters.get('tls'), config);
  const secrets = {
    ...connectionSecrets(MysqlConnection, config),
    ...(target.password !== undefined && { password: target.password }),
  };
  const settings = poolSettings(config);
  const { default: mysql } = await import('mysql2');
  const dialer = new Dialer(mysql.createConnection, { target, tls, serverName: config.tls_server_name || undefined, secrets });
  return new MysqlSession(await openKnexPool(connectionDriver(dialer), settings), secrets, host.log);
}
