import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { describeWithMoto, startMoto } from '@strongroom/lab';
import { syncDestinationContract } from '@strongroom/sync-testkit';
import { awsSsmDestination } from '../src/index.ts';
import { connectionTo, SsmOutside } from './ssm-outside.ts';

describeWithMoto('AWS Parameter Store, emulated by moto', () => {
  const outside = new SsmOutside();
  beforeAll(async () => outside.start(await startMoto()), 60_000);
  afterAll(async () => outside.stop());

  syncDestinationContract(
    { describe, test: (name, body) => test(name, body, 60_000) },
    {
      plugin: awsSsmDestination,
      config: () => connectionTo(outside.door.endpoint),
      outside,
      malformed: (good) => ({ ...good, access_key_id: undefined }),
      unreachable: (good) => ({ ...good, endpoint: 'http://127.0.0.1:1' }),
      wrongCredentials: async (good) => ({ ...good, endpoint: outside.door.refusing }),
      listed: 120,
    },
  );
});
