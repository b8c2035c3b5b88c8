import { X509Certificate } from 'node:crypto';
import { f } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { nameComplaint } from '@strongroom/sync-sdk';
import { PATH } from './limits.ts';

/** What `sys/sync/destinations/vault/<name>` takes, beyond the fields of every destination. */
export const VaultConnection = Type.Object({
  address: f.string('URL of the server, such as https://vault.example.com:8200.', { required: true }),
  token: f.secret('Token that writes the secrets. It excludes role_id and secret_id.'),
  role_id: f.string('Role ID of the AppRole by which to log in, in place of a token.'),
  secret_id: f.secret('Secret ID of the AppRole, where the role requires one.'),
  approle_path: f.string('Path of the AppRole auth method.', { default: 'approle' }),
  namespace: f.string('Namespace of the mount and of the auth method, such as team-a/.'),
  mount: f.string('Path of the version-2 key-value mount.', { default: 'secret' }),
  path_prefix: f.string('Folder of the mount that the secrets lie in. Default: the top.'),
  tls_ca: f.string("PEM of the only CAs to trust for the server. Default: the system's."),
  tls_server_name: f.string('Name that the certificate of the server must have. Default: the host of the address.'),
});
export type VaultConnection = Static<typeof VaultConnection>;

/** Everything wrong with a connection, without asking the server. */
export function checkConnection(connection: VaultConnection): string[] {
  const { token, role_id: role, secret_id: secretId, namespace, tls_ca: ca, tls_server_name: serverName } = connection;
  const faults = addressFaults(connection.address, [ca, serverName]);
  if (token && (role || secretId)) faults.push('token excludes role_id and secret_id: give the one or the others');
  if (!token && !role) faults.push('token or role_id is required');
  for (const [name, text] of Object.entries({ token, role_id: role, secret_id: secretId, namespace })) {
    if (text && /[^\x21-\x7e]/.test(text.trim())) faults.push(`${name} has a space or another character that none has`);
  }
  for (const name of ['mount', 'approle_path', 'path_prefix'] as const) {
    const path = trimmedPath(connection[name]);
    if (path === '' && name === 'path_prefix') continue;
    if (nameComplaint(PATH, path) !== undefined) faults.push(`${name} must be a path, such as team/${name === 'mount' ? 'kv' : 'app'}`);
  }
  if (ca?.trim() && !isCertificate(ca)) faults.push("tls_ca: not a certificate; send the PEM of the server's CA");
  if (serverName && !/^[A-Za-z0-9.-]{1,253}$/.test(serverName)) faults.push('tls_server_name must be the name of a host');
  return faults;
}

/** Without slashes at its ends. */
export function trimmedPath(path: string | undefined): string {
  return (path ?? '').trim().replaceAll(/^\/+|\/+$/g, '');
}

function addressFaults(address: string, ofTls: readonly (string | undefined)[]): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '') {
    return ['address must be the URL of a server, such as https://vault.example.com:8200'];
  }
  if (url.username !== '' || url.password !== '') return ['address must not hold a user or a password'];
  if (/\/v1\/?$/.test(url.pathname)) return ['address must not end in /v1'];
  return url.protocol === 'http:' && ofTls.some(Boolean) ? ['tls_ca and tls_server_name need an address that begins with https'] : [];
}

function isCertificate(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block)).length > 0;
  } catch {
    return false;
  }
}
