import { describe, expect, test } from '@jest/globals';
import { readSettings, sealContract, type SealPlugin } from '@strongroom/seal-sdk';
import { azureKeyVaultSeal, createAzureKeyVaultSeal } from '../src/index.ts';
import { startVault } from './vault-server.ts';

const SECRET = 'the-secret-of-the-app';
const block = { tenant_id: 'tenant', client_id: 'app', client_secret: SECRET, vault_name: 'shop', key_name: 'seal' };

// One plugin for all cases; each case starts a vault of its own.
const options = { vaultUrl: '', authorityHost: '', ca: '' };
const plugin = createAzureKeyVaultSeal(options);

async function started(): Promise<Awaited<ReturnType<typeof startVault>>> {
  const vault = await startVault(['seal', 'other'], SECRET);
  Object.assign(options, { vaultUrl: vault.url, authorityHost: vault.url, ca: vault.ca });
  return vault;
}

sealContract(
  { describe, test },
  {
    plugin: plugin as SealPlugin,
    start: async () => {
      const vault = await started();
      return {
        block,
        otherKey: { ...block, key_name: 'other' },
        rotate: async () => {
          vault.rotate('seal');
          return block;
        },
        fail: async (how) => {
          vault.fail(how);
          return async () => vault.fail(undefined);
        },
        stop: async () => vault.stop(),
      };
    },
  },
);

describe('the seal of Azure Key Vault', () => {
  const valuesOf = (text: Record<string, string>, env: Record<string, string> = {}) =>
    readSettings(azureKeyVaultSeal.settings, { block: text, env, readFile: () => Buffer.alloc(0) }).values();

  test('takes the variables of the same seal elsewhere', () => {
    const env = {
      AZURE_TENANT_ID: 't',
      AZURE_CLIENT_ID: 'c',
      AZURE_ENVIRONMENT: 'AzureChinaCloud',
      AZURE_AD_RESOURCE: 'managedhsm.azure.net',
      VAULT_AZUREKEYVAULT_VAULT_NAME: 'v',
      BAO_AZUREKEYVAULT_KEY_NAME: 'k',
    };
    expect(valuesOf({}, env)).toMatchObject({
      environment: 'AzureChinaCloud',
      resource: 'managedhsm.azure.net',
      vault_name: 'v',
      key_name: 'k',
    });
  });

  test('refuses names that are addresses, and a secret without its app', () => {
    const faults = azureKeyVaultSeal.check!(valuesOf({ vault_name: 'https://shop.vault.azure.net', key_name: 'k', client_secret: 's' }));
    expect(faults.join()).toContain('vault_name must be a name alone');
    expect(faults.join()).toContain('needs tenant_id and client_id');
  });

  test('says that the credentials are wrong without showing them', async () => {
    const vault = await started();
    const session = await plugin.open(valuesOf({ ...block, client_secret: 'a-wrong-secret' }) as never, {} as never);
    const { signal } = new AbortController();
    const error = await session.keyId({ signal }).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'seal_permission_denied', serviceCode: 'AADSTS7000215' });
    expect((error as Error).message).not.toContain('a-wrong-secret');
    await vault.stop();
  });
});
