import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { totpEngine } from '../src/index.ts';

engineContract(
  { describe, test },
  {
    engine: totpEngine,
    prepare: async (mount) => {
      await mount.write('keys/app', { generate: true, issuer: 'Acme', account_name: 'app' });
      return { name: ['app'] };
    },
  },
);
