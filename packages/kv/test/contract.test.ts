import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { kvEngine } from '../src/index.ts';

engineContract(
  { describe, test },
  {
    engine: kvEngine,
    path: 'plain',
    options: { version: '1' },
    prepare: async (mount) => {
      await mount.write('app/config', { a: '1' });
      return { path: ['app/config', 'app'] };
    },
  },
);

engineContract(
  { describe, test },
  {
    engine: kvEngine,
    path: 'versioned',
    options: { version: '2' },
    prepare: async (mount) => {
      await mount.write('data/app/config', { data: { a: '1' } });
      await mount.write('data/app/config', { data: { a: '2' } });
      return { path: ['app/config', 'app'] };
    },
  },
);
