import { fileURLToPath } from 'node:url';
import { test } from '@jest/globals';
import { startKms } from '../../../seal-gcp-kms/test/kms-server.ts';
import { walkUnderSeal } from './seal-walk.ts';

const KEY = 'projects/shop-123/locations/global/keyRings/ring/cryptoKeys/seal';

test('a server lives under a seal of the type gcpckms', async () => {
  const kms = await startKms([KEY]);
  try {
    await walkUnderSeal({
      type: 'gcpckms',
      block: { project: 'shop-123', region: 'global', key_ring: 'ring', crypto_key: 'seal' },
      variables: {
        GOOGLE_PROJECT: 'shop-123',
        GOOGLE_REGION: 'global',
        VAULT_GCPCKMS_SEAL_KEY_RING: 'ring',
        VAULT_GCPCKMS_SEAL_CRYPTO_KEY: 'seal',
      },
      surroundings: {
        NODE_OPTIONS: `--import=${fileURLToPath(new URL('./emulated-seal.mjs', import.meta.url))}`,
        EMULATED_SEAL: JSON.stringify({
          package: '@strongroom/seal-gcp-kms',
          factory: 'createGcpKmsSeal',
          options: { endpoint: kms.endpoint },
        }),
      },
      secrets: [],
      rotate: () => kms.rotate(KEY),
      away: () => kms.fail('throttled'),
      back: () => kms.fail(undefined),
    });
  } finally {
    kms.stop();
  }
}, 60_000);
