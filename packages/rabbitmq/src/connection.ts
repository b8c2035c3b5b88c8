import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { SecureVersion } from 'node:tls';
import { BadRequest, f, isLoopbackHost } from '@strongroom/engine-sdk';
import {
  manualPlan,
  rootPlanOf,
  rootPlanParameters,
  rotationPlanFields,
  rotationStateFields,
  visiblePlan,
  visiblePlanFields,
  type RotationPlan,
  type SentPlan,
} from '@strongroom/rotation';
import { Type, type Static } from 'typebox';
import type { BrokerAddress } from './broker.ts';
import type { PoolTls } from './management-pool.ts';

const TLS_VERSIONS: Readonly<Record<string, SecureVersion>> = { tls12: 'TLSv1.2', tls13: 'TLSv1.3' };

/** The parameters of `config/connection`. The first five have the names that Vault and OpenBao use. */
export const connectionFields = {
  connection_uri: f.string('Where the management API is: http://rabbitmq.example.org:15672, or https.'),
  username: f.string('The user that manages the others; needs the tag administrator.'),
  password: f.secret('Password of that user.'),
  password_policy: f.string('Name of the password policy for all passwords made here. Default: 36 letters and digits.'),
  username_template: f.string('Template of user names: {{.DisplayName}}, {{.RoleName}}. Default: the display name and a UUID.'),
  tls_ca: f.string('PEM certificates of the only authorities to trust. Default: those of the system.', { multiline: true, group: 'TLS' }),
  tls_server_name: f.string("Name that the server's certificate must have, where it is not that of connection_uri.", { group: 'TLS' }),
  tls_min_version: f.string('Oldest version of TLS: tls12 or tls13. Default: tls12.', { group: 'TLS' }),
  tls_client_cert: f.string('PEM certificate that the server may ask for.', { multiline: true, group: 'TLS' }),
  tls_client_key: f.string('PEM key of tls_client_cert. It is never shown.', { multiline: true, group: 'TLS' }),
  insecure_tls: f.bool("Accept any certificate of the server's. Only for tests.", { group: 'TLS' }),
} as const;

const { current: _isPassword, ...rootFields } = rotationStateFields(Type.String());

/** The record at `config/connection`. Empty texts stand for defaults. */
export const Connection = Type.Object({
  connection_uri: Type.String(),
  username: Type.String(),
  password: Type.String(),
  password_policy: Type.String(),
  username_template: Type.String(),
  tls_ca: Type.String(),
  tls_server_name: Type.String(),
  tls_min_version: Type.String(),
  tls_client_cert: Type.String(),
  tls_client_key: Type.String(),
  insecure_tls: Type.Boolean(),
  /** Another one with every write: connections of earlier ones are not used any more. */
  edition: Type.String(),
  /** Where the rotation of the password stands; the password itself is `password`. */
  root: Type.Optional(Type.Object(rootFields)),
  /** When the password is rotated by itself; absent: on demand alone. */
  plan: Type.Optional(Type.Object(rotationPlanFields)),
});
export type Connection = Static<typeof Connection>;

type Setting = Exclude<keyof Connection, 'edition' | 'root' | 'plan'>;
export type SentSettings = { readonly [K in Setting]?: Connection[K] | undefined };
export type SentConnection = SentSettings & SentPlan;

const DEFAULTS: Pick<Connection, Setting> = {
  connection_uri: '',
  username: '',
  password: '',
  password_policy: '',
  username_template: '',
  tls_ca: '',
  tls_server_name: '',
  tls_min_version: '',
  tls_client_cert: '',
  tls_client_key: '',
  insecure_tls: false,
};

/**
 * What a write makes of the stored record: only what was sent changes. A password of another user ends the rotation of the old one; its plan stays.
 * @throws BadRequest
 */
export function mergeConnection(before: Connection | undefined, sent: SentConnection, edition: string): Connection {
  const settings: Record<string, unknown> = {};
  for (const name of Object.keys(DEFAULTS) as Setting[]) settings[name] = sent[name] ?? before?.[name] ?? DEFAULTS[name];
  const merged = settings as Pick<Connection, Setting>;
  for (const name of ['connection_uri', 'username', 'password'] as const) {
    if (merged[name] === '') throw new BadRequest(`missing ${name}`);
  }
  const connection: Connection = { ...merged, connection_uri: checkedUri(merged.connection_uri), edition };
  // The name and the password are separated by a colon where HTTP sends them.
  if (connection.username.includes(':')) throw new BadRequest('username must not contain a colon');
  checkTls(connection);
  const isOther = before !== undefined && changesRoot(before, connection) !== undefined;
  const isPlanned =
    before?.plan !== undefined || Object.keys(rootPlanParameters).some((name) => sent[name as keyof SentPlan] !== undefined);
  return {
    ...connection,
    ...(before?.root && !isOther ? { root: before.root } : {}),
    ...(isPlanned ? { plan: rootPlanOf(before?.plan, sent) } : {}),
  };
}

/** The plan of a record that may have none. */
export function rootPlan({ plan }: Connection): RotationPlan {
  return plan ?? manualPlan;
}

/** What is allowed of a connection, but likely a mistake. */
export function connectionWarnings({ connection_uri: uri }: Connection): string[] {
  const { protocol, hostname } = new URL(uri);
  if (protocol === 'https:' || isLoopbackHost(hostname)) return [];
  return ['connection_uri: passwords are sent over the network without encryption; use https'];
}

/** The parameter by which a write says of another managing user, or of another password of it; undefined where neither changes. */
export function changesRoot(before: Connection, after: Connection): 'connection_uri' | 'username' | 'password' | undefined {
  return (['connection_uri', 'username', 'password'] as const).find((name) => before[name] !== after[name]);
}

/** The parameters by which `after` sends stored secrets to another server than `before`, or sends them less safely. */
export function secretMoves(before: Connection, after: Connection): string[] {
  const moves: Readonly<Record<string, boolean>> = {
    connection_uri: before.connection_uri !== after.connection_uri,
    tls_ca: before.tls_ca !== after.tls_ca,
    tls_server_name: before.tls_server_name !== after.tls_server_name,
    tls_min_version: before.tls_min_version === 'tls13' && after.tls_min_version !== 'tls13',
    insecure_tls: !before.insecure_tls && after.insecure_tls,
  };
  return Object.keys(moves).filter((name) => moves[name]);
}

/** The stored secrets that a write does not bring again. */
export function keptSecrets(before: Connection, supplied: ReadonlySet<string>): string[] {
  return (['password', 'tls_client_key'] as const).filter((name) => before[name] !== '' && !supplied.has(name));
}

export const ShownConnection = Type.Object({
  connection_uri: Type.String(),
  username: Type.String(),
  password_policy: Type.String(),
  username_template: Type.String({ description: 'Empty for the default.' }),
  tls_ca: Type.String(),
  tls_server_name: Type.String(),
  tls_min_version: Type.String(),
  tls_client_cert: Type.String(),
  insecure_tls: Type.Boolean(),
  ...visiblePlanFields,
});

/** Without the secrets. */
export function shownConnection(connection: Connection): Static<typeof ShownConnection> {
  const { password: _password, tls_client_key: _key, edition: _edition, root: _root, plan, ...shown } = connection;
  return { ...shown, ...(plan ? visiblePlan(plan) : {}) };
}

export function addressOf(connection: Connection): BrokerAddress {
  const { connection_uri: uri, username, password } = connection;
  return { uri, tls: uri.startsWith('https:') ? tlsOf(connection) : undefined, login: { username, password } };
}

/** The broker in the registry of managed accounts. Contains no path: the same users are behind all of them. */
export function systemOf({ connection_uri }: Pick<Connection, 'connection_uri'>): string {
  const { protocol, hostname, port } = new URL(connection_uri);
  return `rabbitmq://${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

function tlsOf(
  fields: Pick<Connection, 'tls_ca' | 'tls_client_cert' | 'tls_client_key' | 'tls_server_name' | 'tls_min_version' | 'insecure_tls'>,
): PoolTls {
  return {
    ...(fields.tls_ca === '' ? {} : { ca: fields.tls_ca }),
    ...(fields.tls_client_cert === '' ? {} : { cert: fields.tls_client_cert, key: fields.tls_client_key }),
    ...(fields.tls_server_name === '' ? {} : { servername: fields.tls_server_name }),
    rejectUnauthorized: !fields.insecure_tls,
    minVersion: TLS_VERSIONS[fields.tls_min_version] ?? 'TLSv1.2',
  };
}

/** In its canonical form. @throws BadRequest */
function checkedUri(text: string): string {
  const refuse = (why: string): BadRequest => new BadRequest(`connection_uri ${why}: expected one like https://rabbitmq.example.org:15671`);
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw refuse('is not a URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('is neither http nor https');
  if (url.username !== '' || url.password !== '') throw refuse('must not contain a user or password; send username and password');
  if (url.search !== '' || url.hash !== '') throw refuse('must not contain a query or a fragment');
  // What is left of an empty query or fragment: it says nothing.
  url.search = '';
  url.hash = '';
  return url.href.replace(/\/+$/, '');
}

function checkTls(connection: Connection): void {
  const { tls_ca: ca, tls_client_cert: cert, tls_client_key: key, tls_min_version: version } = connection;
  if (version !== '' && !Object.hasOwn(TLS_VERSIONS, version)) throw new BadRequest('tls_min_version must be tls12 or tls13');
  if ((cert === '') !== (key === '')) throw new BadRequest('tls_client_cert and tls_client_key must be set together');
  if (ca !== '') certificatesIn('tls_ca', ca);
  if (cert === '') return;
  const [leaf] = certificatesIn('tls_client_cert', cert);
  let secret;
  try {
    secret = createPrivateKey(key);
  } catch {
    throw new BadRequest('tls_client_key must be an unencrypted private key in PEM form');
  }
  if (!leaf!.checkPrivateKey(secret)) throw new BadRequest('tls_client_key does not belong to tls_client_cert');
}

function certificatesIn(field: string, pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g);
  try {
    if (blocks) return blocks.map((block) => new X509Certificate(block));
  } catch {
    // Refused below.
  }
  throw new BadRequest(`${field} must be certificates in PEM form`);
}
