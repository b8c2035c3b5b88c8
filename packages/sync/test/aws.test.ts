import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import type { Plugin } from '@strongroom/engine-sdk';
import { describeWithMoto, startMoto, type MotoServer } from '@strongroom/lab';
import { OWNER_TAG } from '@strongroom/sync-sdk';
import { awsSmDestination } from '@strongroom/sync-aws-sm';
import { checked, syncMount, type SyncMount } from './sync-mount.ts';

const AWS = 'sys/sync/destinations/aws-sm/prod';
const KEYS = { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };

jest.setTimeout(60_000);

describeWithMoto('POST destinations/cloud1-sm/:name (aws-sm), with moto', () => {
  let moto: MotoServer;
  let outside: SecretsManager;
  let sync: SyncMount;
  beforeAll(async () => {
    moto = await startMoto();
    const credentials = { accessKeyId: KEYS.access_key_id, secretAccessKey: KEYS.secret_access_key };
    outside = new SecretsManager({ endpoint: moto.endpoint, region: 'eu-central-1', credentials });
  }, 60_000);
  afterAll(async () => {
    outside?.destroy();
    await moto?.stop();
  });
  beforeEach(async () => {
    await moto.reset();
    sync = await syncMount({ plugins: [awsSmDestination as unknown as Plugin] });
    await sync.put('app/web', { user: 'u', password: 'p' });
  });
  afterEach(async () => sync.close());

  const emulator = () => ({ endpoint: moto.endpoint, allowed_ipv4_addresses: '127.0.0.1', allowed_ports: new URL(moto.endpoint).port });
  const link = async () => checked(sync.ask('update', `${AWS}/associations/set`, { mount: 'kv', secret_name: 'app/web', wait: '30s' }));
  const value = async (name: string) => (await outside.getSecretValue({ SecretId: name })).SecretString;

  test('access_key_id, secret_access_key and region make a destination; credentials are masked', async () => {
    const made = await checked(sync.ask('update', 'sys/sync/destinations/cloud1-sm/prod', { ...KEYS, region: 'eu-central-1' }));
    expect(made.data).toEqual({
      name: 'prod',
      type: 'aws-sm',
      connection_details: {
        access_key_id: '*****',
        secret_access_key: '*****',
        region: 'eu-central-1',
        recovery_window_in_days: 7,
      },
      options: {
        custom_tags: {},
        granularity_level: 'secret-path',
        secret_name_template: 'vault/{{ .MountAccessor }}/{{ .SecretPath }}',
        on_conflict: 'fail',
        reconcile_interval: 86_400,
      },
    });
  });

  test('a test reaches it, logs in, writes a secret and removes it; it tells an address that nobody answers at from credentials that are refused', async () => {
    const settings = { ...KEYS, region: 'eu-central-1', recovery_window_in_days: 0, ...emulator() };
    const steps = async (more: object = {}): Promise<string[]> => {
      const { data } = await checked(sync.ask('update', `${AWS}/test`, { ...settings, write: true, ...more }));
      return (data as { steps: { step: string; ok: boolean }[] }).steps.map(({ step, ok }) => `${step}${ok ? '' : ' fails'}`);
    };
    expect(await steps()).toEqual(['settings', 'reach', 'login', 'write', 'read back', 'remove']);
    expect((await outside.listSecrets({ IncludePlannedDeletion: true })).SecretList).toEqual([]);
    expect(await steps({ endpoint: 'http://127.0.0.1:9', allowed_ports: '9' })).toEqual(['settings', 'reach fails']);
    expect(await steps({ allowed_ports: '80' })).toEqual(['settings', 'reach fails']);
    await moto.enforce(0);
    try {
      expect(await steps()).toEqual(['settings', 'reach', 'login fails']);
    } finally {
      await moto.enforce(Infinity);
    }
    expect((await sync.ask('list', 'sys/sync/destinations')).data).toMatchObject({ keys: ['memory/'] });
  });

  test('access_key_id, secret_access_key and region left out come from the environment', async () => {
    const saved = { ...process.env };
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: KEYS.access_key_id,
      AWS_SECRET_ACCESS_KEY: KEYS.secret_access_key,
      AWS_REGION: 'eu-central-1',
    });
    try {
      await checked(sync.ask('update', AWS, emulator()));
      expect((await sync.ask('read', AWS)).data).not.toMatchObject({ connection_details: { access_key_id: expect.anything() } });
      await link();
      expect((await sync.associations('aws-sm/prod'))[0]).toMatchObject({ sync_status: 'SYNCED' });
    } finally {
      for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION']) {
        if (saved[name] === undefined) delete process.env[name];
        else process.env[name] = saved[name];
      }
    }
  });

  test('one without the other is a 400', async () => {
    const { status, errors } = await sync.ask('update', AWS, { access_key_id: 'AKIA' });
    expect([status, errors]).toEqual([400, ['access_key_id and secret_access_key belong together: give both, or neither']]);
  });

  test('a secret is linked, changed, deleted, brought back and unlinked', async () => {
    await checked(sync.ask('update', AWS, { ...KEYS, ...emulator(), region: 'eu-central-1', custom_tags: { team: 'blue' } }));
    await link();
    const name = `vault/${await sync.accessor()}/app/web`;
    expect((await sync.associations('aws-sm/prod'))[0]).toMatchObject({ sync_status: 'SYNCED', remote_name: name });
    expect(JSON.parse((await value(name))!)).toEqual({ user: 'u', password: 'p' });
    const { Tags } = await outside.describeSecret({ SecretId: name });
    expect(Object.fromEntries(Tags!.map(({ Key, Value }) => [Key, Value]))).toEqual({
      team: 'blue',
      'hashicorp:vault': '',
      [OWNER_TAG]: expect.stringMatching(/^[0-9a-f]{24}_[0-9a-f]{24}$/),
    });
    await sync.put('app/web', { user: 'u', password: 'new' });
    await sync.core.settleSchedule();
    expect(JSON.parse((await value(name))!)).toMatchObject({ password: 'new' });
    await sync.ask('delete', 'kv/data/app/web');
    await sync.core.settleSchedule();
    await expect(value(name)).rejects.toThrow();
    await sync.ask('update', 'kv/undelete/app/web', { versions: [2] });
    await sync.core.settleSchedule();
    expect(JSON.parse((await value(name))!)).toMatchObject({ password: 'new' });
    await checked(sync.ask('update', `${AWS}/associations/remove`, { mount: 'kv', secret_name: 'app/web', wait: '30s' }));
    expect((await outside.listSecrets({})).SecretList).toEqual([]);
  });

  test('a destination deleted and made again by the same name recovers its own secrets that are scheduled for deletion', async () => {
    const destination = { ...KEYS, ...emulator(), region: 'eu-central-1', recovery_window_in_days: 7 };
    await checked(sync.ask('update', AWS, destination));
    await link();
    const name = `vault/${await sync.accessor()}/app/web`;
    await sync.ask('delete', AWS, { purge: true });
    await sync.core.settleSchedule();
    expect((await sync.ask('read', AWS)).status).toBe(404);
    expect((await outside.describeSecret({ SecretId: name })).DeletedDate).toBeDefined();
    await checked(sync.ask('update', AWS, destination));
    await link();
    expect((await sync.associations('aws-sm/prod'))[0]).toMatchObject({ sync_status: 'SYNCED' });
    expect((await outside.describeSecret({ SecretId: name })).DeletedDate).toBeUndefined();
    expect(JSON.parse((await value(name))!)).toEqual({ user: 'u', password: 'p' });
  });

  test('the emulator is refused unless its address and port are allowed', async () => {
    await checked(sync.ask('update', AWS, { ...KEYS, region: 'eu-central-1', endpoint: moto.endpoint }));
    await link();
    expect((await sync.associations('aws-sm/prod'))[0]).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: { code: 'address_refused' },
    });
    expect((await outside.listSecrets({})).SecretList).toEqual([]);
  });

  test('drift: a foreign edit is found by GET plan and repaired by POST reconcile', async () => {
    await checked(sync.ask('update', AWS, { ...KEYS, ...emulator(), region: 'eu-central-1' }));
    await link();
    const name = `vault/${await sync.accessor()}/app/web`;
    await outside.putSecretValue({ SecretId: name, SecretString: 'edited' });
    expect((await sync.ask('read', `${AWS}/plan`)).data).toMatchObject({ foreign_edits: [{ remote_name: name }], total: 1 });
    expect((await checked(sync.ask('update', `${AWS}/reconcile`))).data).toEqual({ queued: 1, orphans_removed: 0 });
    await sync.core.settleSchedule();
    expect(JSON.parse((await value(name))!)).toEqual({ user: 'u', password: 'p' });
    expect((await sync.ask('read', `${AWS}/plan`)).data).toMatchObject({ total: 0, in_sync: 1 });
  });
});

describe('both variants of the type', () => {
  test('LIST destinations/cloud1-sm lists what was made as aws-sm', async () => {
    const sync = await syncMount({ plugins: [awsSmDestination as unknown as Plugin] });
    await checked(sync.ask('update', AWS, { ...KEYS, region: 'eu-central-1' }));
    expect((await sync.ask('list', 'sys/sync/destinations/cloud1-sm')).data).toEqual({ keys: ['prod'], total_destinations: 1 });
    await sync.close();
  });
});
