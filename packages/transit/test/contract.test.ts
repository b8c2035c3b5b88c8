import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { transitEngine } from '../src/index.ts';

engineContract(
  { describe, test },
  {
    engine: transitEngine,
    // It notes when the key was backed up.
    readsWithEffect: ['backup/{name}'],
    prepare: async (mount) => {
      await mount.write('keys/orders', { exportable: true, allow_plaintext_backup: true });
      await mount.write('keys/orders/rotate', {});
      await mount.write('encrypt/orders', { plaintext: 'aGVsbG8=' });
      return { name: ['orders'], plaintext: ['wrapped', 'plaintext'] };
    },
  },
);
