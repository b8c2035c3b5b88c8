import { f } from '@strongroom/engine-sdk';

/** What dynamic and static roles have in common. */
export const credentialFields = {
  credential_type: f.string('One of password, rsa_private_key, client_certificate; password unless given.'),
  credential_config: f.keyValues(
    'Options of the credential type. password: password_policy. rsa_private_key: key_bits (2048, 3072, 4096), format (pkcs8). ' +
      'client_certificate: ca_cert, ca_private_key, key_type (rsa, ed25519, ec), key_bits, signature_bits (256, 384, 512), common_name_template.',
  ),
};

/** Options that hold a secret and are not shown. */
const SECRET_OPTIONS: ReadonlySet<string> = new Set(['ca_private_key']);

/** `credential_config` as it is read: without keys; absent where nothing is set. */
export function visibleCredentialConfig(config: Readonly<Record<string, string>>): { credential_config?: Record<string, string> } {
  const visible = Object.entries(config).filter(([option]) => !SECRET_OPTIONS.has(option));
  return visible.length === 0 ? {} : { credential_config: Object.fromEntries(visible) };
}
