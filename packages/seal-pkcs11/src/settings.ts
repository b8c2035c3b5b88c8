import { setting, type SettingValues } from '@strongroom/seal-sdk';

/** The mechanisms, by the names and numbers of the standard. */
const MECHANISMS: ReadonlyMap<string, Mechanism> = new Map([
  ['AES_GCM', 'aes-gcm'],
  ['CKM_AES_GCM', 'aes-gcm'],
  ['0X1087', 'aes-gcm'],
  ['4231', 'aes-gcm'],
  ['RSA_PKCS_OAEP', 'rsa-oaep'],
  ['CKM_RSA_PKCS_OAEP', 'rsa-oaep'],
  ['0X0009', 'rsa-oaep'],
  ['0X9', 'rsa-oaep'],
  ['9', 'rsa-oaep'],
]);

/** How the module wraps. */
export type Mechanism = 'aes-gcm' | 'rsa-oaep';

/** Names as OpenBao's seal of this type has them. */
export const SETTINGS = {
  lib: setting.text('Path of the PKCS #11 library of the module.', { required: true, env: ['BAO_HSM_LIB', 'VAULT_HSM_LIB'] }),
  slot: setting.text('Number of the slot. Without one, `token_label` finds it.', { env: ['BAO_HSM_SLOT', 'VAULT_HSM_SLOT'] }),
  token_label: setting.text('Label of the token.', { env: ['BAO_HSM_TOKEN_LABEL', 'VAULT_HSM_TOKEN_LABEL'] }),
  pin: setting.secret('PIN of the user.', { required: true, env: ['BAO_HSM_PIN', 'VAULT_HSM_PIN'] }),
  key_label: setting.text('Label of the key.', { env: ['BAO_HSM_KEY_LABEL', 'VAULT_HSM_KEY_LABEL'] }),
  key_id: setting.text('Id of the key, in hexadecimal.', { env: ['BAO_HSM_KEY_ID', 'VAULT_HSM_KEY_ID'] }),
  mechanism: setting.text('How the module wraps: `AES_GCM` (0x1087) or `RSA_PKCS_OAEP` (0x0009).', {
    default: 'AES_GCM',
    env: ['BAO_HSM_MECHANISM', 'VAULT_HSM_MECHANISM'],
  }),
  rsa_oaep_hash: setting.text('Hash of RSA-OAEP.', {
    default: 'sha256',
    choices: ['sha1', 'sha224', 'sha256', 'sha384', 'sha512'],
    env: ['BAO_HSM_RSA_OAEP_HASH', 'VAULT_HSM_RSA_OAEP_HASH'],
  }),
};

export type Pkcs11Settings = SettingValues<typeof SETTINGS>;

export function mechanismOf({ mechanism }: Pkcs11Settings): Mechanism | undefined {
  return MECHANISMS.get(mechanism.toUpperCase());
}

/** What is wrong with settings, without asking the module. */
export function settingFaults(settings: Pkcs11Settings): string[] {
  const faults: string[] = [];
  if (settings.slot === undefined && settings.token_label === undefined) faults.push('slot or token_label is required');
  if (settings.slot !== undefined && !/^\d{1,10}$/.test(settings.slot)) faults.push('slot must be a decimal number');
  if (settings.key_label === undefined && settings.key_id === undefined) faults.push('key_label or key_id is required');
  if (settings.key_id !== undefined && !/^(0x)?([0-9a-f]{2})+$/i.test(settings.key_id)) faults.push('key_id must be hexadecimal');
  if (mechanismOf(settings) === undefined) faults.push('mechanism must be AES_GCM (0x1087) or RSA_PKCS_OAEP (0x0009)');
  return faults;
}
