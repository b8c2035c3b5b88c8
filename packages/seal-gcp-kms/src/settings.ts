import { setting, type SettingValues } from '@strongroom/seal-sdk';

/** Names as Vault's and OpenBao's seal of this type has them. */
export const SETTINGS = {
  credentials: setting.text(
    "File with the JSON key of a service account. Without one, Google's chain is asked: environment, metadata server.",
    {
      env: ['GOOGLE_CREDENTIALS', 'GOOGLE_APPLICATION_CREDENTIALS'],
    },
  ),
  project: setting.text('Id of the project.', { required: true, env: ['GOOGLE_PROJECT'] }),
  region: setting.text('Location of the key ring, such as `global` or `europe-west1`.', { required: true, env: ['GOOGLE_REGION'] }),
  key_ring: setting.text('Name of the key ring.', {
    required: true,
    env: ['BAO_GCPCKMS_SEAL_KEY_RING', 'VAULT_GCPCKMS_SEAL_KEY_RING'],
  }),
  crypto_key: setting.text('Name of the key.', {
    required: true,
    env: ['BAO_GCPCKMS_SEAL_CRYPTO_KEY', 'VAULT_GCPCKMS_SEAL_CRYPTO_KEY'],
  }),
};

export type GcpKmsSettings = SettingValues<typeof SETTINGS>;

/** What is wrong with settings, without asking Google. */
export function settingFaults(settings: GcpKmsSettings): string[] {
  const faults: string[] = [];
  if (!/^[\w.:-]+$/.test(settings.project)) faults.push('project must be the id of a project, such as "my-project-123"');
  if (!/^[a-z0-9-]+$/.test(settings.region)) faults.push('region must be a location, such as "global" or "europe-west1"');
  for (const key of ['key_ring', 'crypto_key'] as const) {
    if (!/^[\w-]{1,63}$/.test(settings[key])) faults.push(`${key} must be a name alone: letters, digits, "_" and "-"`);
  }
  return faults;
}
