import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { jwtAuth, oidcAuth } from '../src/index.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

for (const engine of [jwtAuth, oidcAuth]) {
  engineContract(
    { describe, test },
    {
      engine,
      prepare: async (mount) => {
        await mount.write('config', { jwt_validation_pubkeys: publicKey.export({ type: 'spki', format: 'pem' }).toString() });
        await mount.write('role/ci', { role_type: 'jwt', user_claim: 'sub', bound_subject: 'alice', bound_claims: { level: 5 } });
        return { name: ['ci'] };
      },
    },
  );
}
