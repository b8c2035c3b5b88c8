import { describe, expect, test } from '@jest/globals';
import { readSettings, sealContract, type SealPlugin } from '@strongroom/seal-sdk';
import { createGcpKmsSeal, gcpKmsSeal } from '../src/index.ts';
import { startKms } from './kms-server.ts';

const RING = 'projects/shop-123/locations/global/keyRings/ring/cryptoKeys';
const block = { project: 'shop-123', region: 'global', key_ring: 'ring', crypto_key: 'seal' };

// One plugin for all cases; each case starts a server of its own.
const endpoint = { host: '127.0.0.1', port: 0 };
const plugin = createGcpKmsSeal({ endpoint });

sealContract(
  { describe, test },
  {
    plugin: plugin as SealPlugin,
    start: async () => {
      const server = await startKms([`${RING}/seal`, `${RING}/other`]);
      Object.assign(endpoint, server.endpoint);
      return {
        block,
        otherKey: { ...block, crypto_key: 'other' },
        rotate: async () => {
          server.rotate(`${RING}/seal`);
          return block;
        },
        fail: async (how) => {
          server.fail(how);
          return async () => server.fail(undefined);
        },
        stop: async () => server.stop(),
      };
    },
  },
);

describe('the seal of Google Cloud KMS', () => {
  const valuesOf = (text: Record<string, string>, env: Record<string, string> = {}) =>
    readSettings(gcpKmsSeal.settings, { block: text, env, readFile: () => Buffer.alloc(0) }).values();

  test('takes the variables of the same seal elsewhere', () => {
    const env = { GOOGLE_PROJECT: 'p', GOOGLE_REGION: 'global', VAULT_GCPCKMS_SEAL_KEY_RING: 'r', BAO_GCPCKMS_SEAL_CRYPTO_KEY: 'k' };
    expect(valuesOf({}, env)).toMatchObject({ project: 'p', region: 'global', key_ring: 'r', crypto_key: 'k' });
  });

  test('refuses names that are paths', () => {
    expect(gcpKmsSeal.check!(valuesOf({ ...block, crypto_key: 'a/b', region: 'Global!' }))).toHaveLength(2);
  });

  test('says that the key is not there', async () => {
    const server = await startKms([`${RING}/seal`]);
    Object.assign(endpoint, server.endpoint);
    const session = await plugin.open(valuesOf({ ...block, crypto_key: 'none' }) as never, {} as never);
    const { signal } = new AbortController();
    await expect(session.keyId({ signal })).rejects.toMatchObject({ code: 'seal_permission_denied', serviceCode: '5 NOT_FOUND' });
    await session.close();
    server.stop();
  });
});
