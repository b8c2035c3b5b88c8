import { CreateAliasCommand, CreateKeyCommand, KMSClient, UpdateAliasCommand } from '@aws-sdk/client-kms';
import { test } from '@jest/globals';
import { describeWithMoto, startMoto } from '@strongroom/lab';
import { failingFront } from '../../../seal-aws-kms/test/failing-front.ts';
import { walkUnderSeal } from './seal-walk.ts';

describeWithMoto('AWS KMS, as moto emulates it', () => {
  test('a server lives under a seal of the type awskms', async () => {
    const moto = await startMoto();
    const front = await failingFront(moto.endpoint);
    const credentials = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'the-secret-of-the-key' };
    const client = new KMSClient({ endpoint: moto.endpoint, region: 'eu-west-1', credentials });
    const newKey = async (): Promise<string> => (await client.send(new CreateKeyCommand({}))).KeyMetadata!.KeyId!;
    try {
      await client.send(new CreateAliasCommand({ AliasName: 'alias/strongroom', TargetKeyId: await newKey() }));
      await walkUnderSeal({
        type: 'awskms',
        block: {
          kms_key_id: 'alias/strongroom',
          region: 'eu-west-1',
          endpoint: front.endpoint,
          access_key: credentials.accessKeyId,
          secret_key: credentials.secretAccessKey,
        },
        variables: {
          VAULT_AWSKMS_SEAL_KEY_ID: 'alias/strongroom',
          AWS_REGION: 'eu-west-1',
          AWS_KMS_ENDPOINT: front.endpoint,
          AWS_ACCESS_KEY_ID: credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        },
        secrets: [credentials.secretAccessKey],
        rotate: async () => {
          await client.send(new UpdateAliasCommand({ AliasName: 'alias/strongroom', TargetKeyId: await newKey() }));
        },
        away: () => front.fail('permission'),
        back: () => front.fail(undefined),
      });
    } finally {
      client.destroy();
      await front.stop();
      await moto.stop();
    }
  }, 120_000);
});
