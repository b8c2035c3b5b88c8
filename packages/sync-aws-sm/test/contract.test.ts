import { describe, test } from '@jest/globals';
import { startMoto, describeWithMoto } from '@strongroom/lab';
import { syncDestinationContract } from '@strongroom/sync-testkit';
import { awsSmDestination } from '../src/index.ts';
import { AwsOutside, connectionTo } from './aws-outside.ts';
import { afterAll, beforeAll } from '@jest/globals';

describeWithMoto('AWS Secrets Manager, emulated by moto', () => {
  const outside = new AwsOutside();
  beforeAll(async () => outside.start(await startMoto()), 60_000);
  afterAll(async () => outside.stop());

  syncDestinationContract(
    { describe, test: (name, body) => test(name, body, 60_000) },
    {
      plugin: awsSmDestination,
      config: () => connectionTo(outside.endpoint),
      outside,
      malformed: (good) => ({ ...good, access_key_id: undefined }),
      unreachable: (good) => ({ ...good, endpoint: 'http://127.0.0.1:1' }),
      wrongCredentials: async (good) => ({ ...good, endpoint: outside.refusing }),
      listed: 120,
    },
  );
});
