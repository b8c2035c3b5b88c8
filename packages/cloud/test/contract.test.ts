import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { engineContract, manualClock, type EngineContract } from '@strongroom/engine-testkit';
import { describeWithMoto, startMoto, type MotoServer } from '@strongroom/lab';
import { awsEngine } from '../src/index.ts';
import { Beside, DEPLOY, READ_ONLY, rootConfig } from './cloud-mount.ts';

const contract: Omit<EngineContract, 'prepare'> = {
  engine: awsEngine,
  outside: [
    'creds/{name:at}',
    'sts/{name:at}',
    'static-roles/{name:at}',
    'rotate-role/{name:at}',
    'config/rotate-root',
    'orphans',
    'orphans/{name:any}',
  ],
  readsWithEffect: ['creds/{name:at}', 'sts/{name:at}', 'preview/{name:at}', 'orphans'],
};

describe('with a provider that does not answer', () => {
  engineContract(
    { describe, test },
    {
      ...contract,
      prepare: async (mount) => {
        const key = { access_key: 'AKIAEXAMPLEEXAMPLE00', secret_key: 'no-secret-of-anybody' };
        await mount.write('config/root', rootConfig('http://127.0.0.1:1', key, { max_retries: 0 }));
        await mount.write('config/lease', { lease: '1h', lease_max: '24h' });
        await mount.write('roles/user', { credential_type: 'iam_user', policy_arns: READ_ONLY });
        await mount.write('roles/deploy', { credential_type: 'assumed_role', role_arns: DEPLOY });
        return { name: ['user', 'deploy'] };
      },
    },
  );
});

describeWithMoto('with a provider', () => {
  let moto: MotoServer;
  beforeAll(async () => {
    moto = await startMoto();
  }, 60_000);
  afterAll(async () => moto?.stop());

  engineContract(
    { describe, test },
    {
      ...contract,
      clock: () => manualClock(new Date()),
      prepare: async (mount) => {
        await moto.reset();
        await mount.write('config/root', rootConfig(moto.endpoint, await new Beside(moto.endpoint).seed(), { max_retries: 0 }));
        await mount.write('roles/user', { credential_type: 'iam_user', policy_arns: READ_ONLY });
        await mount.write('static-roles/user', { username: 'static1', rotation_period: '24h' });
        await mount.write('config/rotate-root');
        await mount.read('creds/user');
        return { name: ['user'] };
      },
      leavesOutside: [
        { kind: 'user', name: /^vault-/ },
        { kind: 'access key', name: /^AKIA/ },
      ],
    },
  );
});
