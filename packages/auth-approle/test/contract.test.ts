import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { approleAuth } from '../src/index.ts';

engineContract(
  { describe, test },
  {
    engine: approleAuth,
    prepare: async (mount) => {
      await mount.write('role/web', { token_policies: 'dev', secret_id_ttl: '1h', secret_id_num_uses: 10 });
      await mount.write('role/web/secret-id', { metadata: 'env=test' });
      await mount.write('role/jobs', { secret_id_bound_cidrs: '10.0.0.0/8', role_id: 'jobs' });
      await mount.write('role/jobs/custom-secret-id', { secret_id: 'a-secret-id' });
      return { name: ['web', 'jobs'] };
    },
  },
);
