import { setting, type SettingValues } from '@strongroom/seal-sdk';

/** Where tokens come from, by the names of Azure's environments. */
const AUTHORITIES: Readonly<Record<string, string>> = {
  AzurePublicCloud: 'https://login.microsoftonline.com',
  AzureUSGovernmentCloud: 'https://login.microsoftonline.us',
  AzureChinaCloud: 'https://login.chinacloudapi.cn',
};

/** Names as Vault's and OpenBao's seal of this type has them. */
export const SETTINGS = {
  tenant_id: setting.text('Directory (tenant) of the app registration.', { env: ['AZURE_TENANT_ID'] }),
  client_id: setting.text('Application (client) id; without a secret, that of the managed identity.', { env: ['AZURE_CLIENT_ID'] }),
  client_secret: setting.secret(
    "Secret of the app registration. Without one, Azure's chain is asked: workload identity, managed identity.",
    {
      env: ['AZURE_CLIENT_SECRET'],
    },
  ),
  environment: setting.text('The Azure cloud.', {
    default: 'AzurePublicCloud',
    choices: Object.keys(AUTHORITIES),
    env: ['AZURE_ENVIRONMENT'],
  }),
  resource: setting.text('Domain of the vault: `vault.azure.net`, `managedhsm.azure.net` or that of another cloud.', {
    default: 'vault.azure.net',
    env: ['AZURE_AD_RESOURCE'],
  }),
  vault_name: setting.text('Name of the vault or managed HSM.', {
    required: true,
    env: ['BAO_AZUREKEYVAULT_VAULT_NAME', 'VAULT_AZUREKEYVAULT_VAULT_NAME'],
  }),
  key_name: setting.text('Name of an RSA key in it.', {
    required: true,
    env: ['BAO_AZUREKEYVAULT_KEY_NAME', 'VAULT_AZUREKEYVAULT_KEY_NAME'],
  }),
};

export type AzureSettings = SettingValues<typeof SETTINGS>;

/** What is wrong with settings, without asking Azure. */
export function settingFaults(settings: AzureSettings): string[] {
  const faults: string[] = [];
  for (const key of ['vault_name', 'key_name'] as const) {
    if (!/^[A-Za-z0-9-]{1,127}$/.test(settings[key])) faults.push(`${key} must be a name alone: letters, digits and "-"`);
  }
  if (!/^[a-z0-9.-]+$/.test(settings.resource)) faults.push('resource must be a domain, such as "vault.azure.net"');
  if (settings.client_secret !== undefined && (settings.tenant_id === undefined || settings.client_id === undefined))
    faults.push('client_secret needs tenant_id and client_id');
  return faults;
}

export function authorityOf({ environment }: AzureSettings): string {
  return AUTHORITIES[environment]!;
}
