import { parseDuration } from '@strongroom/engine-sdk';
import {
  ConfigurationInvalid,
  connectionSecrets,
  type DatabaseHost,
  type DatabaseSession,
  renderConnectionUrl,
} from '@strongroom/database-sdk';
import { PostgresqlConnection } from './connection-schema.ts';
import { parseConnectionString } from './connection-string.ts';
import { ConnectionPool } from './pool.ts';
import { type PasswordAuthentication, PostgresqlSession } from './session.ts';
import { checkTlsMaterial, parseSslMode, type TlsMaterial } from './tls.ts';

const DEFAULT_MAX_OPEN = 4;

/** Checks the settings and prepares a pool that has not connected yet. */
export async function openPostgresql(config: PostgresqlConnection, host: DatabaseHost): Promise<DatabaseSession> {
  const target = parseConnectionString(
    renderConnectionUrl(config.connection_url ?? '', config, { disableEscaping: config.disable_escaping }),
  );
  const material: TlsMaterial = {
    ca: config.tls_ca || undefined,
    certificate: config.tls_certificate || undefined,
    key: config.private_key || undefined,
  };
  checkTlsMaterial(material);
  const passwordAuthentication = parsePasswordAuthentication(config.password_authentication);
  const maxOpen = config.max_open_connections || DEFAULT_MAX_OPEN;
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
  const settings = {
    maxOpen,
    maxIdle: Math.min(config.max_idle_connections || maxOpen, maxOpen),
    lifetimeMs: parseLifetime(config.max_connection_lifetime ?? 0) * 1000,
  };
  const [{ default: knex }, { default: pg }] = await Promise.all([import('knex'), import('pg')]);
  return new PostgresqlSession(new ConnectionPool(knex, pg.Client, dialing, settings), { passwordAuthentication, secrets }, host.log);
}

function parsePasswordAuthentication(text = 'password'): PasswordAuthentication {
  if (text === 'password' || text === 'scram-sha-256') return text;
  throw new ConfigurationInvalid(`'${text}' is not a valid password authentication type`);
}

function parseLifetime(value: string | number): number {
  try {
    return Math.max(0, parseDuration(value));
  } catch {
    throw new ConfigurationInvalid('max_connection_lifetime must be a duration, such as "30m"');
  }
}
