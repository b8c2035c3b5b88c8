import { describe, test } from '@jest/globals';
import { sealContract } from '@strongroom/seal-sdk';
import { transitSeal } from '../src/index.ts';
import { startTransit } from './transit-server.ts';

sealContract(
  { describe, test },
  {
    plugin: transitSeal,
    start: async () => {
      const server = await startTransit(['unseal', 'other']);
      const block = { address: server.address, token: server.token, key_name: 'unseal', disable_renewal: 'true' };
      return {
        block,
        otherKey: { ...block, key_name: 'other' },
        rotate: async () => {
          server.rotate('unseal');
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
