import { setting, type SettingValues } from '@strongroom/seal-sdk';

/** Names as Vault's and OpenBao's seal of this type has them. */
export const SETTINGS = {
  address: setting.text('URL of the server whose transit engine wraps.', {
    required: true,
    env: ['BAO_ADDR', 'VAULT_TRANSIT_SEAL_ADDR'],
  }),
  token: setting.secret('Token that may update `encrypt/` and `decrypt/` of the key. It is renewed while the server runs.', {
    required: true,
    env: ['BAO_TOKEN', 'VAULT_TRANSIT_SEAL_TOKEN'],
  }),
  key_name: setting.text('Name of the key.', {
    required: true,
    env: ['BAO_TRANSIT_SEAL_KEY_NAME', 'VAULT_TRANSIT_SEAL_KEY_NAME'],
  }),
  mount_path: setting.text('Path of the transit engine.', {
    default: 'transit/',
    env: ['BAO_TRANSIT_SEAL_MOUNT_PATH', 'VAULT_TRANSIT_SEAL_MOUNT_PATH'],
  }),
  namespace: setting.text('Namespace of the engine.', { env: ['BAO_NAMESPACE', 'VAULT_NAMESPACE'] }),
  disable_renewal: setting.flag('Does not renew the token.', {
    env: ['BAO_TRANSIT_SEAL_DISABLE_RENEWAL', 'VAULT_TRANSIT_SEAL_DISABLE_RENEWAL'],
  }),
  tls_ca_cert: setting.text("File with the PEM certificate that signed the server's. The authorities of Node by default.", {
    env: ['BAO_CACERT', 'VAULT_CACERT'],
  }),
  tls_client_cert: setting.text('File with a PEM certificate to present.', { env: ['BAO_CLIENT_CERT', 'VAULT_CLIENT_CERT'] }),
  tls_client_key: setting.text('File with the PEM key of that certificate.', { env: ['BAO_CLIENT_KEY', 'VAULT_CLIENT_KEY'] }),
  tls_server_name: setting.text("Name to expect in the server's certificate.", {
    env: ['BAO_TLS_SERVER_NAME', 'VAULT_TLS_SERVER_NAME'],
  }),
  tls_skip_verify: setting.flag('Accepts any certificate; for testing only.', { env: ['BAO_SKIP_VERIFY', 'VAULT_SKIP_VERIFY'] }),
};

export type TransitSettings = SettingValues<typeof SETTINGS>;

/** What is wrong with settings, without asking the server. */
export function settingFaults({ address, key_name: key, tls_client_cert: cert, tls_client_key: certKey }: TransitSettings): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const faults: string[] = [];
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    faults.push('address must be a URL such as "https://vault.example:8200"');
  if (!/^[\w.-]+$/.test(key)) faults.push('key_name must be the name of a key: letters, digits, "_", "-" and "."');
  if ((cert === undefined) !== (certKey === undefined)) faults.push('tls_client_cert and tls_client_key come together');
  return faults;
}
