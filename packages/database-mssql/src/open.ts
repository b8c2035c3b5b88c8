import { parseDuration } from '@strongroom/engine-sdk';
import { ConfigurationInvalid, connectionSecrets, type DatabaseHost, type DatabaseSession } from '@strongroom/database-sdk';
import { MssqlConnection } from './connection-schema.ts';
import { parseConnectionString } from './connection-string.ts';
import { Dialer } from './dial.ts';
import { checkParameters, driverOptions, encryptionOf } from './driver-options.ts';
import { ConnectionPool } from './pool.ts';
import { MssqlSession } from './session.ts';

const DEFAULT_MAX_OPEN = 4;

/** Checks the settings and prepares a pool that has not connected yet. */
export async function openMssql(config: MssqlConnection, host: DatabaseHost): Promise<DatabaseSession> {
  const target = parseConnectionString(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping });
  const tlsCa = config.tls_ca || undefined;
  checkParameters(target, tlsCa);
  const encryption = encryptionOf(target.parameters, tlsCa);
  for (const address of target.addresses) driverOptions(target, address, encryption, tlsCa);
  const maxOpen = config.max_open_connections || DEFAULT_MAX_OPEN;
  const secrets = {
    ...connectionSecrets(MssqlConnection, config),
    ...(target.password !== undefined && { password: target.password }),
  };
  const settings = {
    maxOpen,
    maxIdle: Math.min(config.max_idle_connections || maxOpen, maxOpen),
    lifetimeMs: parseLifetime(config.max_connection_lifetime ?? 0) * 1000,
  };
  const [{ default: knex }, { default: tedious }] = await Promise.all([import('knex'), import('tedious')]);
  const dialer = new Dialer(tedious, { target, encryption, tlsCa, secrets });
  return new MssqlSession(new ConnectionPool(knex, dialer, settings), { contained: config.contained_db ?? false, secrets }, host.log);
}

function parseLifetime(value: string | number): number {
  try {
    return Math.max(0, parseDuration(value));
  } catch {
    throw new ConfigurationInvalid('max_connection_lifetime must be a duration, such as "30m"');
  }
}
