import { CreateAliasCommand, CreateKeyCommand, KMSClient, UpdateAliasCommand } from '@aws-sdk/client-kms';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { describeWithMoto, startMoto, type MotoServer } from '@strongroom/lab';
import { sealContract } from '@strongroom/seal-sdk';
import { awsKmsSeal } from '../src/index.ts';
import { failingFront } from './failing-front.ts';

const credentials = { access_key: 'AKIAEXAMPLE', secret_key: 'the-secret-of-the-key' };

describeWithMoto('AWS KMS, as moto emulates it', () => {
  let moto: MotoServer;
  let made = 0;
  beforeAll(async () => {
    moto = await startMoto();
  });
  afterAll(() => moto.stop());

  sealContract(
    { describe, test },
    {
      plugin: awsKmsSeal,
      start: async () => {
        const front = await failingFront(moto.endpoint);
        const client = new KMSClient({
          endpoint: moto.endpoint,
          region: 'eu-west-1',
          credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
        });
        const key = async (): Promise<string> => (await client.send(new CreateKeyCommand({}))).KeyMetadata!.KeyId!;
        const alias = `alias/seal-${(made += 1)}`;
        await client.send(new CreateAliasCommand({ AliasName: alias, TargetKeyId: await key() }));
        const block = { ...credentials, kms_key_id: alias, region: 'eu-west-1', endpoint: front.endpoint };
        return {
          block,
          otherKey: { ...block, kms_key_id: await key() },
          rotate: async () => {
            await client.send(new UpdateAliasCommand({ AliasName: alias, TargetKeyId: await key() }));
            return block;
          },
          fail: async (how) => {
            front.fail(how);
            return async () => front.fail(undefined);
          },
          stop: async () => {
            client.destroy();
            await front.stop();
          },
        };
      },
      skip: [
        {
          test: 'another key does not open it',
          reason: 'a blob of KMS names its key, and the credentials decide which keys they may use: so an alias can move to another key',
        },
      ],
    },
  );
});
