import type { Client, ClientConfig } from 'pg';
import { ConfigurationInvalid, ConnectionLost, type LoginFailure, redact } from '@strongroom/database-sdk';
import type { ConnectionTarget } from './connection-string.ts';
import { errorText, isConnectionError, loginFailure, sqlState } from './server-error.ts';
import { type SslMode, type TlsMaterial, tlsChoices } from './tls.ts';

export interface DialSettings {
  readonly target: ConnectionTarget;
  readonly mode: SslMode;
  readonly material: TlsMaterial;
  readonly secrets: Readonly<Record<string, string>>;
}

const CONNECT_TIMEOUT_SECONDS = 10;

/** Keywords that steer libpq or a pooling driver rather than the server's session, and mean nothing here. */
const IGNORED = new Set(
  'sslmode sslnegotiation sslsni sslcompression gssencmode krbsrvname gsslib channel_binding client_encoding connect_timeout application_name fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout target_session_attrs load_balance_hosts passfile pool_max_conns pool_min_conns pool_max_conn_lifetime pool_max_conn_idle_time pool_health_check_period default_query_exec_mode statement_cache_capacity description_cache_capacity timezone standard_conforming_strings options requirepeer min_protocol_version max_protocol_version ssl_min_protocol_version ssl_max_protocol_version'.split(
    ' ',
  ),
);

/** Makes connections: tries the hosts and ways to speak TLS in order, starting with what worked last. */
export class Dialer {
  readonly #clientClass: new (config: ClientConfig) => Client;
  readonly #secrets: Readonly<Record<string, string>>;
  readonly #candidates: ClientConfig[];
  readonly #setup: string;
  readonly #mustWrite: boolean;
  #next = 0;

  constructor(clientClass: new (config: ClientConfig) => Client, { target, mode, material, secrets }: DialSettings) {
    this.#clientClass = clientClass;
    this.#secrets = secrets;
    const { parameters } = target;
    for (const name of ['sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'service']) {
      if (parameters.has(name))
        throw new ConfigurationInvalid(`connection_url must not name files (${name}); give tls_ca, tls_certificate and private_key`);
    }
    const session = parameters.get('target_session_attrs') ?? 'any';
    if (!['any', 'read-write', 'primary'].includes(session))
      throw new ConfigurationInvalid('target_session_attrs must be any, read-write or primary');
    this.#mustWrite = session !== 'any';
    const timeout = Number(parameters.get('connect_timeout') ?? CONNECT_TIMEOUT_SECONDS);
    if (!Number.isInteger(timeout) || timeout < 0) throw new ConfigurationInvalid('connect_timeout must be a number of seconds');
    this.#setup = sessionSetup(parameters);
    this.#candidates = target.hosts.flatMap(({ host, port }) =>
      tlsChoices(mode, host, material).map((ssl) => ({
        host,
        port,
        user: target.user,
        password: target.password,
        database: target.database ?? target.user,
        ssl,
        keepAlive: true,
        application_name: parameters.get('application_name') ?? 'strongroom',
        connectionTimeoutMillis: timeout * 1000,
        enableChannelBinding: parameters.get('channel_binding') === 'require',
        ...(parameters.has('options') && { options: parameters.get('options') }),
      })),
    );
  }

  /** Throws ConnectionLost, which says for each host what happened. */
  async dial(): Promise<Client> {
    const failures: string[] = [];
    const logins = new Set<LoginFailure>();
    // Other calls move the mark meanwhile.
    const first = this.#next;
    for (let tried = 0; tried < this.#candidates.length; tried++) {
      const index = (first + tried) % this.#candidates.length;
      const candidate = this.#candidates[index]!;
      try {
        const client = await this.#connect(candidate);
        this.#next = index;
        return client;
      } catch (error) {
        const text = `${candidate.host}:${candidate.port}: ${errorText(error)}`;
        if (!failures.includes(text)) failures.push(text);
        logins.add(loginFailure(error));
        if (!isConnectionError(error) && sqlState(error) !== '28000') break;
      }
    }
    const { user, database } = this.#candidates[0]!;
    throw new ConnectionLost(
      redact(`failed to connect to \`user=${user ?? ''} database=${database ?? ''}\`: ${failures.join('; ')}`, this.#secrets),
      { login: (['credential', 'barred'] as const).find((failure) => logins.has(failure)) ?? 'unreachable' },
    );
  }

  async #connect(candidate: ClientConfig): Promise<Client> {
    const client = new this.#clientClass(candidate);
    // Errors of an idle connection come with its end, which the pool hears of.
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.query(this.#setup);
      if (this.#mustWrite) {
        const { rows } = await client.query<{ standby: boolean }>('SELECT pg_catalog.pg_is_in_recovery() AS standby');
        if (rows[0]?.standby) throw new Error('the server is a standby');
      }
      return client;
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
  }
}

/** Sent after login rather than as start-up options, which connection poolers refuse. */
function sessionSetup(parameters: ReadonlyMap<string, string>): string {
  const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const settings = [...parameters].filter(([name]) => !IGNORED.has(name));
  return [
    'SET standard_conforming_strings = on',
    "SET TimeZone = 'UTC'",
    ...settings.map(([name, value]) => `SELECT pg_catalog.set_config(${literal(name)}, ${literal(value)}, false)`),
  ].join('; ');
}
