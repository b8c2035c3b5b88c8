import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { cheap } from './cheap.ts';

engineContract(
  { describe, test },
  {
    engine: cheap(),
    prepare: async (mount) => {
      await mount.write('users/ada', { password: 'first', token_policies: 'dev' });
      return { username: ['ada'] };
    },
  },
);
