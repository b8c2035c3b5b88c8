import { API_VERSION } from '@strongroom/engine-sdk';
import {
  openEnvelope,
  SealCalls,
  sealEnvelope,
  SealUnavailable,
  SealWrongKey,
  type SealPlugin,
  type SealSession,
} from '@strongroom/seal-sdk';
import type { TokenCredential } from '@azure/identity';
import type { CryptographyClient, CryptographyClientOptions } from '@azure/keyvault-keys';
import { translateAzureError } from './azure-error.ts';
import { authorityOf, type AzureSettings, settingFaults, SETTINGS } from './settings.ts';

/** What the operator decides for every seal of this kind. */
export interface AzureKeyVaultOptions {
  /** In place of the address that vault_name and resource make; takes vaults outside the domain of their cloud. */
  readonly vaultUrl?: string;
  /** In place of the cloud's own: https://login.microsoftonline.com. */
  readonly authorityHost?: string;
  /** PEM of authorities to trust in place of the system's, for proxies that open TLS. */
  readonly ca?: string;
}

const ALGORITHM = 'RSA-OAEP-256';
/** The host retries, with backoff. */
const ONCE = { retryOptions: { maxRetries: 0 }, redirectOptions: { maxRetries: 0 } } as const;

/** The seal `azurekeyvault` with the operator's options. */
export function createAzureKeyVaultSeal(options: AzureKeyVaultOptions = {}): SealPlugin<typeof SETTINGS> {
  return {
    kind: 'seal',
    name: 'azurekeyvault',
    title: 'Azure Key Vault',
    apiVersion: API_VERSION,
    code: [new URL('.', import.meta.url).href, '@azure/keyvault-keys', '@azure/identity'],
    settings: SETTINGS,
    check: settingFaults,
    open: async (values) => openVault(values, options),
  };
}

/** The seal `azurekeyvault`: an RSA key in Azure Key Vault or a managed HSM wraps the key. */
export const azureKeyVaultSeal: SealPlugin<typeof SETTINGS> = createAzureKeyVaultSeal();

async function openVault(settings: AzureSettings, options: AzureKeyVaultOptions): Promise<SealSession> {
  const { CryptographyClient: Cryptography, KeyClient } = await import('@azure/keyvault-keys');
  const credential = await credentialOf(settings, options);
  const url = options.vaultUrl ?? `https://${settings.vault_name}.${settings.resource}`;
  const clientOptions: CryptographyClientOptions = {
    ...ONCE,
    additionalPolicies: trusting(options.ca),
    ...(options.vaultUrl === undefined ? {} : { disableChallengeResourceVerification: true }),
  };
  const keys = new KeyClient(url, credential, clientOptions);
  const calls = new SealCalls(translateAzureError, { client_secret: settings.client_secret });
  const clients = new Map<string, CryptographyClient>();
  const clientOf = (version: string): CryptographyClient => {
    const known = clients.get(version) ?? new Cryptography(`${url}/keys/${settings.key_name}/${version}`, credential, clientOptions);
    clients.set(version, known);
    return known;
  };
  const current = async (signal: AbortSignal): Promise<string> => {
    const { properties } = await keys.getKey(settings.key_name, { abortSignal: signal });
    if (!properties.version) throw new SealUnavailable('Azure Key Vault answered no version of the key');
    return properties.version;
  };

  return {
    wrap: async ({ plain, aad, signal }) =>
      calls.run(signal, async () => {
        const version = await current(signal);
        const blob = await sealEnvelope(plain, aad, async (key) => {
          const { result } = await clientOf(version).wrapKey(ALGORITHM, key, { abortSignal: signal });
          return Buffer.concat([Buffer.from(`${version} `), result]);
        });
        return { blob, keyId: version };
      }),
    unwrap: async ({ blob, aad, signal }) =>
      calls.run(signal, async () =>
        openEnvelope(blob, aad, async (wrapped) => {
          const [, version] = /^([\w-]{1,64}) /.exec(Buffer.from(wrapped.subarray(0, 65)).toString('latin1')) ?? [];
          if (version === undefined) throw new SealWrongKey('the blob names no version of a key in Azure Key Vault');
          return unwrapKey(clientOf(version), wrapped.subarray(version.length + 1), signal);
        }),
      ),
    keyId: async ({ signal }) => calls.run(signal, async () => current(signal)),
    close: async () => {
      calls.close();
    },
  };
}

async function unwrapKey(client: CryptographyClient, wrapped: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  try {
    return (await client.unwrapKey(ALGORITHM, wrapped, { abortSignal: signal })).result;
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode !== 404) throw error;
    throw new SealWrongKey('Azure Key Vault does not have this version of the key', { cause: error, serviceCode: '404 KeyNotFound' });
  }
}

async function credentialOf(
  settings: AzureSettings,
  { authorityHost = authorityOf(settings), ca }: AzureKeyVaultOptions,
): Promise<TokenCredential> {
  const { ClientSecretCredential, DefaultAzureCredential } = await import('@azure/identity');
  const { tenant_id: tenantId, client_id: clientId, client_secret: secret } = settings;
  const shared = { ...ONCE, authorityHost, additionalPolicies: trusting(ca), disableInstanceDiscovery: ca !== undefined };
  if (secret !== undefined) return new ClientSecretCredential(tenantId!, clientId!, secret, shared);
  return new DefaultAzureCredential({
    ...shared,
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(clientId === undefined ? {} : { managedIdentityClientId: clientId, workloadIdentityClientId: clientId }),
  });
}

/** Requests that trust these authorities. */
function trusting(ca: string | undefined): NonNullable<CryptographyClientOptions['additionalPolicies']> {
  if (ca === undefined) return [];
  const policy: NonNullable<CryptographyClientOptions['additionalPolicies']>[number]['policy'] = {
    name: 'trusting',
    sendRequest: async (request, next) => {
      request.requestOverrides = { ...request.requestOverrides, ca };
      return await next(request);
    },
  };
  return [{ policy, position: 'perCall' }];
}
