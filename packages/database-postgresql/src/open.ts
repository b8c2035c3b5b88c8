import { openKnexPool, poolSettings } from '@strongroom/database-knex';
import { ConfigurationInvalid, connectionSecrets, type DatabaseHost, type DatabaseSession } from '@strongroom/database-sdk';
import { PostgresqlConnection } from './connection-schema.ts';
import { connectionDriver } from './connection-driver.ts';
import { Dialer } from './dial.ts';
import { targetOf } from './identity.ts';
import { type PasswordAuthentication, PostgresqlSession } from './session.ts';
import { checkTlsMaterial, parseSslMode, type TlsMaterial } from './tls.ts';

/** Checks the settings and prepares a pool that has not connected yet. */
export async function openPostgresql(config: PostgresqlConnection, host: DatabaseHost): Promise<DatabaseSession> {
  const target = targetOf(config);
  const material: TlsMaterial = {
    ca: config.tls_ca || undefined,
    certificate: config.tls_certificate || undefined,
    key: config.private_key || undefined,
  };
  checkTlsMaterial(material);
  const passwordAuthentication = parsePasswordAuthentication(config.password_authentication);
  const secrets = {
    ...connectionSecrets(PostgresqlConnection, config),
    ...(target.password !== undefined && { password: target.password }),
  };
  const dialing = {
    target: { ...target, user: target.user ?? config.username, password: target.password ?? config.password },
    mode: parseSslMode(target.parameters.get('sslmode'), material),
    material,
    secrets,
  };
  const settings = poolSettings(config);
  const { default: pg } = await import('pg');
  const pool = await openKnexPool(connectionDriver(new Dialer(pg.Client, dialing)), settings);
  return new PostgresqlSession(pool, { passwordAuthentication, secrets }, host.log);
}

function parsePasswordAuthentication(text = 'password'): PasswordAuthentication {
  if (text === 'password' || text === 'scram-sha-256') return text;
  throw new ConfigurationInvalid(`'${text}' is not a valid password authentication type`);
}
