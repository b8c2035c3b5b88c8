import { f } from '@strongroom/engine-sdk';
import { type Static, Type } from 'typebox';
import { CLOUD_NAMES, findCloud } from './clouds.ts';

/** What `sys/sync/destinations/azure-kv/<name>` takes, beyond the fields of every destination. */
export const AzureKvConnection = Type.Object({
  key_vault_uri: f.string('Address of the vault: https://<vault>.vault.azure.net.', { required: true }),
  tenant_id: f.string('Directory (tenant) of the app registration.', { required: true }),
  client_id: f.string(
    'Application (client) id of the app registration. Without client_secret: client id of the managed identity or workload identity.',
    { required: true },
  ),
  client_secret: f.secret(
    "Secret of the app registration. Without one, Azure's own chain is used: environment, workload identity, managed identity.",
  ),
  cloud: f.string(`The Azure cloud: ${CLOUD_NAMES.join(', ')}.`, { default: 'cloud' }),
});

export type AzureKvConnection = Static<typeof AzureKvConnection>;

/** What the operator decides for all destinations of this kind. */
export interface AzureKvOptions {
  /** In place of the cloud's own: https://login.microsoftonline.com. */
  readonly authorityHost?: string;
  /**
   * Takes vaults under any name, and gives tokens to hosts outside the domain of the cloud: for private name spaces. Without it a vault must
   * lie in the domain of its cloud, and the client checks that of every challenge.
   */
  readonly disableChallengeResourceVerification?: boolean;
  /** PEM of authorities that may have signed the certificates of vault and token authority, in place of the system's: for proxies that open TLS. */
  readonly ca?: string;
  /** Does not ask Microsoft's public instance which authorities exist: for disconnected clouds. */
  readonly disableInstanceDiscovery?: boolean;
}

/** What is wrong with a connection, without looking at Azure. */
export function checkConnection(connection: AzureKvConnection, options: AzureKvOptions): readonly string[] {
  const cloud = findCloud(connection.cloud);
  if (cloud === undefined) return [`cloud must be one of ${CLOUD_NAMES.join(', ')}`];
  const example = `https://<vault>.${cloud.vaultDomain}`;
  const uri = URL.canParse(connection.key_vault_uri ?? '') ? new URL(connection.key_vault_uri) : undefined;
  if (uri?.protocol !== 'https:') return [`key_vault_uri must be an https address such as ${example}`];
  const faults: string[] = [];
  if (uri.username !== '' || uri.search !== '' || uri.hash !== '' || uri.pathname !== '/') {
    faults.push(`key_vault_uri must be the address of a vault alone, such as ${example}`);
  }
  if (options.disableChallengeResourceVerification !== true && !uri.hostname.endsWith(`.${cloud.vaultDomain}`)) {
    faults.push(`key_vault_uri must lie in ${cloud.vaultDomain}, the domain of vaults of this cloud`);
  }
  return faults;
}
