import { fileURLToPath } from 'node:url';
import { test } from '@jest/globals';
import { startVault } from '../../../seal-azure-key-vault/test/vault-server.ts';
import { walkUnderSeal } from './seal-walk.ts';

const SECRET = 'the-secret-of-the-app';

test('a server lives under a seal of the type azurekeyvault', async () => {
  const vault = await startVault(['seal'], SECRET);
  const options = { vaultUrl: vault.url, authorityHost: vault.url, ca: vault.ca };
  try {
    await walkUnderSeal({
      type: 'azurekeyvault',
      block: { tenant_id: 'tenant', client_id: 'app', client_secret: SECRET, vault_name: 'shop', key_name: 'seal' },
      variables: {
        AZURE_TENANT_ID: 'tenant',
        AZURE_CLIENT_ID: 'app',
        AZURE_CLIENT_SECRET: SECRET,
        VAULT_AZUREKEYVAULT_VAULT_NAME: 'shop',
        VAULT_AZUREKEYVAULT_KEY_NAME: 'seal',
      },
      surroundings: {
        NODE_OPTIONS: `--import=${fileURLToPath(new URL('./emulated-seal.mjs', import.meta.url))}`,
        EMULATED_SEAL: JSON.stringify({ package: '@strongroom/seal-azure-key-vault', factory: 'createAzureKeyVaultSeal', options }),
      },
      secrets: [SECRET, 'a-token'],
      rotate: () => vault.rotate('seal'),
      away: () => vault.fail('away'),
      back: () => vault.fail(undefined),
    });
  } finally {
    await vault.stop();
  }
}, 60_000);
