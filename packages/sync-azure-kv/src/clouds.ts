/** An Azure cloud: where tokens come from, and the domain that its vaults lie in. */
export interface AzureCloud {
  readonly authorityHost: string;
  readonly vaultDomain: string;
}

const PUBLIC: AzureCloud = { authorityHost: 'https://login.microsoftonline.com', vaultDomain: 'vault.azure.net' };
const US_GOVERNMENT: AzureCloud = { authorityHost: 'https://login.microsoftonline.us', vaultDomain: 'vault.usgovcloudapi.net' };
const CHINA: AzureCloud = { authorityHost: 'https://login.chinacloudapi.cn', vaultDomain: 'vault.azure.cn' };

/** By the names that Azure's tools give them; `cloud` is the public one. */
const CLOUDS: ReadonlyMap<string, AzureCloud> = new Map([
  ['cloud', PUBLIC],
  ['public', PUBLIC],
  ['azurepubliccloud', PUBLIC],
  ['azurecloud', PUBLIC],
  ['usgovernment', US_GOVERNMENT],
  ['azureusgovernment', US_GOVERNMENT],
  ['azureusgovernmentcloud', US_GOVERNMENT],
  ['china', CHINA],
  ['azurechinacloud', CHINA],
]);

/** One name of each, for messages. */
export const CLOUD_NAMES = ['cloud', 'usgovernment', 'china'] as const;

/** Names are taken without regard to case, `_` and `-`. */
export function findCloud(name: string | undefined): AzureCloud | undefined {
  return CLOUDS.get((name ?? '').toLowerCase().replaceAll(/[_-]/g, '') || 'cloud');
}
