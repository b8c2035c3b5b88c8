import { Dialer } from '@strongroom/database-knex';
import { ConfigurationInvalid, present } from '@strongroom/database-sdk';
import pg, { type Client, type ClientConfig } from 'pg';
import type { PostgresqlConnection } from './connection-schema.ts';
import type { PostgresqlTarget } from './connection-string.ts';
import { answers } from './server-error.ts';
import { parseSslMode, pemOf, tlsChoices } from './tls.ts';

/** Keywords that steer libpq or a pooling driver rather than the server's session, and mean nothing here. */
const IGNORED =
  'sslmode sslnegotiation sslsni sslcompression gssencmode krbsrvname gsslib channel_binding client_encoding connect_timeout application_name fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout target_session_attrs load_balance_hosts passfile pool_max_conns pool_min_conns pool_max_conn_lifetime pool_max_conn_idle_time pool_health_check_period default_query_exec_mode statement_cache_capacity description_cache_capacity timezone standard_conforming_strings options requirepeer min_protocol_version max_protocol_version ssl_min_protocol_version ssl_max_protocol_version';

/** Connects to the first of the hosts, and in the first of the ways to speak TLS, that works. Throws ConfigurationInvalid. */
export function postgresqlDialer(target: PostgresqlTarget, config: PostgresqlConnection): Dialer<ClientConfig, Client> {
  const { parameters, user, password, database = user } = target;
  const pem = pemOf(config);
  const mode = parseSslMode(parameters.get('sslmode'), config);
  const options = { user, password, database, keepAlive: true, ...clientOptions(parameters) };
  const session = parameters.get('target_session_attrs') ?? 'any';
  if (!['any', 'read-write', 'primary'].includes(session))
    throw new ConfigurationInvalid('target_session_attrs must be any, read-write or primary');
  const setup = sessionSetup(parameters);
  return new Dialer({
    candidates: target.addresses.flatMap((address) => tlsChoices(mode, address.host, pem).map((ssl) => ({ ...options, ...address, ssl }))),
    answers,
    async connect(candidate) {
      const client = new pg.Client(candidate).on('error', () => undefined);
      await client.connect();
      return client;
    },
    async prepare(client) {
      await client.query(setup);
      if (session === 'any') return;
      const { rows } = await client.query<{ standby: boolean }>('SELECT pg_catalog.pg_is_in_recovery() AS standby');
      if (rows[0]?.standby) throw new Error('the server is a standby');
    },
    abandon: (client) => void client.end().catch(() => undefined),
    placeOf: ({ host, port }) => `${host}:${port}`,
    // 28000: not from here, but maybe from another address or over TLS.
    goesOn: (error) => answers.isLost(error) || answers.code(error) === '28000',
    prefix: `failed to connect to \`user=${user ?? ''} database=${database ?? ''}\`: `,
  });
}

function clientOptions(parameters: PostgresqlTarget['parameters']): ClientConfig {
  const file = ['sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'service'].find((name) => parameters.has(name));
  if (file) throw new ConfigurationInvalid(`connection_url must not name files (${file}); give tls_ca, tls_certificate and private_key`);
  const timeout = Number(parameters.get('connect_timeout') ?? 10);
  if (!Number.isInteger(timeout) || timeout < 0) throw new ConfigurationInvalid('connect_timeout must be a number of seconds');
  return {
    application_name: parameters.get('application_name') ?? 'strongroom',
    connectionTimeoutMillis: timeout * 1000,
    enableChannelBinding: parameters.get('channel_binding') === 'require',
    ...present({ options: parameters.get('options') }),
  };
}

/** Sent after login rather than as start-up options, which connection poolers refuse. */
function sessionSetup(parameters: PostgresqlTarget['parameters']): string {
  const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const settings = [...parameters].filter(([name]) => !IGNORED.split(' ').includes(name));
  return [
    'SET standard_conforming_strings = on',
    "SET TimeZone = 'UTC'",
    ...settings.map(([name, value]) => `SELECT pg_catalog.set_config(${literal(name)}, ${literal(value)}, false)`),
  ].join('; ');
}
