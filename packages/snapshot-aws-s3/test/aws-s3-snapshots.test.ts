import { createHash, randomBytes } from 'node:crypto';
import { ListMultipartUploadsCommand, S3 } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { fieldSpec, type SnapshotPlace, type SnapshotStorage } from '@strongroom/engine-sdk';
import { checkedCore, manualClock } from '@strongroom/engine-testkit';
import { describeWithMoto, startMoto, type MotoServer } from '@strongroom/lab';
import { readSnapshot } from '@strongroom/snapshot-file';
import { memoryStorage } from '@strongroom/storage-sdk';
import { awsS3Snapshots } from '../src/index.ts';

jest.setTimeout(60_000);

const BUCKET = 'backups';
const KEYS = { aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'a-secret-of-the-bucket' };

describeWithMoto('scheduled snapshots in S3', () => {
  let moto: MotoServer;
  let client: S3;
  let place: SnapshotPlace;
  let storage: SnapshotStorage;
  const never = new AbortController().signal;

  beforeAll(async () => {
    moto = await startMoto({ env: { MOTO_IAM_LOAD_MANAGED_POLICIES: 'false' } });
    const credentials = { accessKeyId: KEYS.aws_access_key_id, secretAccessKey: KEYS.aws_secret_access_key };
    client = new S3({ endpoint: moto.endpoint, region: 'eu-central-1', forcePathStyle: true, credentials });
    const settings = {
      ...{ aws_s3_bucket: BUCKET, aws_s3_region: 'eu-central-1', aws_s3_endpoint: moto.endpoint, aws_s3_force_path_style: true },
      ...KEYS,
    };
    place = { pathPrefix: 'a/b', filePrefix: 'snap', settings };
  });
  beforeEach(async () => {
    await moto.reset();
    await client.createBucket({ Bucket: BUCKET, CreateBucketConfiguration: { LocationConstraint: 'eu-central-1' } });
    storage = await awsS3Snapshots.open(place);
  });
  afterAll(async () => {
    client?.destroy();
    await moto?.stop();
  });

  async function* pieces(...parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
    yield* parts;
  }
  const uploads = async (): Promise<number> =>
    (await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))).Uploads?.length ?? 0;
  const keys = async (): Promise<string[]> =>
    ((await client.listObjectsV2({ Bucket: BUCKET })).Contents ?? []).map(({ Key }) => Key!).sort();

  test('have their name once they are committed, in parts of any size, and can be listed and removed', async () => {
    const content = randomBytes(40 * 2 ** 20);
    const staged = await storage.write(
      'snap-1',
      pieces(content.subarray(0, 7), content.subarray(7, 30_000_000), content.subarray(30_000_000)),
      never,
    );
    expect([staged.bytes, await keys(), await uploads()]).toEqual([content.length, [], 1]);
    await staged.commit(never);
    expect([await keys(), await uploads()]).toEqual([['a/b/snap-1'], 0]);
    const { Body } = await client.getObject({ Bucket: BUCKET, Key: 'a/b/snap-1' });
    const stored = await Body!.transformToByteArray();
    expect(createHash('sha256').update(stored).digest()).toEqual(createHash('sha256').update(content).digest());
    await client.putObject({ Bucket: BUCKET, Key: 'a/b/other', Body: 'x' });
    expect(await storage.list(never)).toEqual([{ name: 'snap-1', bytes: content.length }]);
    expect(storage.url('snap-1')).toBe(`${moto.endpoint}/backups/a/b/snap-1`);
    await storage.remove('snap-1', never);
    await storage.remove('snap-1', never);
    expect(await keys()).toEqual(['a/b/other']);
  });

  test('leave nothing where they are discarded, fail in the middle, or are cut off and cleared later', async () => {
    await (await storage.write('snap-1', pieces(randomBytes(100)), never)).discard();
    expect(await uploads()).toBe(0);
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield randomBytes(100);
      throw new Error('the disk is gone');
    }
    await expect(storage.write('snap-2', failing(), never)).rejects.toThrow('the disk is gone');
    expect(await uploads()).toBe(0);
    const over = new AbortController();
    async function* ending(): AsyncGenerator<Uint8Array> {
      yield randomBytes(100);
      over.abort(new Error('the server is stopping'));
    }
    await expect(storage.write('snap-3', ending(), over.signal)).rejects.toThrow('the server is stopping');
    expect(await uploads()).toBe(0);
    await storage.write('snap-4', pieces(randomBytes(100)), never);
    await storage.write('snap-44', pieces(randomBytes(100)), never);
    await storage.clear('snap-4', never);
    expect([await uploads(), await keys()]).toEqual([1, []]);
    await (await storage.write('snap-5', pieces(randomBytes(100)), never)).commit(never);
    await storage.clear('snap-5', never);
    expect(await keys()).toEqual([]);
  });

  test('say which bucket fails and why, without a secret', async () => {
    const absent = await awsS3Snapshots.open({ ...place, settings: { ...place.settings, aws_s3_bucket: 'nobody' } });
    await expect(absent.list(never)).rejects.toMatchObject({
      answered: true,
      message: 'the bucket nobody answers NoSuchBucket: The specified bucket does not exist',
    });
    const away = await awsS3Snapshots.open({ ...place, settings: { ...place.settings, aws_s3_endpoint: 'http://127.0.0.1:1' } });
    const failure = (await away.list(never).catch((error: unknown) => error)) as Error;
    expect(failure.message).toMatch(/^the bucket backups cannot be reached: /);
    expect(failure.message).not.toContain(KEYS.aws_secret_access_key);
    expect(failure).toMatchObject({ answered: false });
  });

  test('refuse settings that cannot work', () => {
    for (const [settings, error] of [
      [{ aws_s3_bucket: 'No Bucket' }, /^aws_s3_bucket must be/],
      [{ aws_s3_region: 'here' }, /^aws_s3_region must look/],
      [{ aws_secret_access_key: undefined }, /belong together/],
      [{ aws_s3_endpoint: 'ftp://x' }, /^aws_s3_endpoint must be/],
      [{ aws_s3_endpoint: 'https://user:word@x' }, /hold no user name/],
      [{ aws_s3_enable_kms: true, aws_s3_server_side_encryption: true }, /exclude each other/],
      [{ aws_s3_kms_key: 'k' }, /^aws_s3_kms_key is for/],
    ] as const) {
      const wrong = { ...place, settings: { ...place.settings, ...settings } } as SnapshotPlace;
      expect(() => awsS3Snapshots.check(wrong)).toThrow(error);
    }
    expect(() => awsS3Snapshots.check({ ...place, pathPrefix: 'a/../b' })).toThrow(/^path_prefix/);
    expect(() => awsS3Snapshots.check(place)).not.toThrow();
  });

  test('are taken by the schedule, show no secret, and keep it only while the address stays', async () => {
    const clock = manualClock();
    const core = await checkedCore({
      ...{ storage: memoryStorage(), clock, devRootToken: 'root', plugins: [awsS3Snapshots], liveness: { clock: manualClock() } },
    });
    const call = async (operation: 'read' | 'update', path: string, data: Record<string, unknown> = {}) =>
      core.handle({ operation, path: `sys/storage/raft/snapshot-auto/${path}`, data, token: 'root' });
    try {
      const { settings } = place;
      const fields = { storage_type: 'aws-s3', interval: '1h', retain: 2, path_prefix: '/a/b/', ...settings };
      expect((await call('update', 'config/daily', fields)).status).toBe(204);
      for (let hour = 0; hour < 4; hour++) {
        await core.settleSchedule();
        await clock.advance('1h');
      }
      await core.settleSchedule();
      expect((await call('read', 'status/daily')).data).toMatchObject({
        consecutive_errors: 0,
        last_snapshot_error: '',
        retention_problem: '',
      });
      const stored = await keys();
      expect(stored).toHaveLength(2);
      const { Body } = await client.getObject({ Bucket: BUCKET, Key: stored[1]! });
      const { meta } = await readSnapshot(pieces(await Body!.transformToByteArray()));
      expect(meta.Storage).toBe('inmem');
      const shown = await call('read', 'config/daily');
      expect(shown.data).toMatchObject({ aws_s3_bucket: BUCKET, aws_access_key_id: KEYS.aws_access_key_id });
      expect(JSON.stringify(shown)).not.toContain(KEYS.aws_secret_access_key);
      const moved = await call('update', 'config/daily', { aws_s3_endpoint: 'https://elsewhere.example' });
      expect([moved.status, moved.errors?.[0]]).toEqual([400, expect.stringMatching(/^aws_s3_endpoint: .*aws_secret_access_key/)]);
      const reference = await call('update', 'config/daily', { aws_secret_access_key: 'file:///etc/passwd' });
      expect([reference.status, reference.errors?.[0]]).toEqual([
        400,
        expect.stringMatching(/^aws_secret_access_key takes the secret itself/),
      ]);
      expect((await call('update', 'config/daily', { retain: 1 })).status).toBe(204);
      expect(
        Object.entries(awsS3Snapshots.fields)
          .filter(([, field]) => fieldSpec(field).secret)
          .map(([name]) => name),
      ).toEqual(['aws_secret_access_key', 'aws_session_token']);
    } finally {
      await core.close();
    }
  });
});
