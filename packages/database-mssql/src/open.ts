import { openKnexPool, poolSettings } from '@strongroom/database-knex';
import { connectionSecrets, type DatabaseHost, type DatabaseSession } from '@strongroom/database-sdk';
import { MssqlConnection } from './connection-schema.ts';
import { connectionDriver } from './connection-driver.ts';
import { parseConnectionString } from './connection-string.ts';
import { Dialer } from './dial.ts';
import { checkParameters, driverOptions, encryptionOf } from './driver-options.ts';
import { MssqlSession } from './session.ts';

/** Checks the settings and prepares a pool that has not connected yet. */
export async function openMssql(config: MssqlConnection, host: DatabaseHost): Promise<DatabaseSession> {
  const target = parseConnectionString(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping });
  const tlsCa = config.tls_ca || undefined;
  checkParameters(target, tlsCa);
  const encryption = encryptionOf(target.parameters, tlsCa);
  for (const address of target.addresses) driverOptions(target, address, encryption, tlsCa);
  const secrets = {
    ...connectionSecrets(MssqlConnection, config),
    ...(target.password !== undefined && { password: target.password }),
  };
  const settings = poolSettings(config);
  const { default: tedious } = await import('tedious');
  const dialer = new Dialer(tedious, { target, encryption, tlsCa, secrets });
  return new MssqlSession(
    await openKnexPool(connectionDriver(dialer), settings),
    { contained: config.contained_db ?? false, secrets },
    host.log,
  );
}
