import { describe, test } from '@jest/globals';
import { sealContract } from '@strongroom/seal-sdk';
import { keyboxSeal } from '../plugin.js';
import { startKeybox } from './keybox.ts';

const TOKEN = 'the-token-of-the-box';

sealContract(
  { describe, test },
  {
    plugin: keyboxSeal,
    start: async () => {
      const [box, other] = [await startKeybox(TOKEN), await startKeybox(TOKEN)];
      const block = { address: box.address, token: TOKEN };
      return {
        block,
        otherKey: { ...block, address: other.address },
        rotate: async () => {
          box.rotate();
          return block;
        },
        fail: async (how) => {
          box.fail(how);
          return async () => box.fail(undefined);
        },
        stop: async () => {
          await box.stop();
          await other.stop();
        },
      };
    },
  },
);
