import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestMount } from '@strongroom/engine-testkit';
import { regionOf } from '../src/aws/aws-clients.ts';
import { AwsFront, awsError, awsResult, credentialsXml } from './aws-front.ts';
import { DEPLOY, mountCloud, rootConfig } from './cloud-mount.ts';

const KEY = { access_key: 'AKIAPAYLOADPAYLOAD00', secret_key: 'payload-secret' };

describe('config/root', () => {
  let front: AwsFront;
  let mount: TestMount;
  beforeAll(async () => {
    front = await AwsFront.start();
  });
  afterAll(async () => front.stop());
  beforeEach(async () => {
    front.reset();
    front.on('AssumeRole', () => awsResult('AssumeRole', credentialsXml(new Date(Date.now() + 3_600_000))));
    mount = await mountCloud();
    await mount.write('roles/deploy', { credential_type: 'assumed_role', role_arns: DEPLOY });
  });
  afterEach(async () => mount.close());

  const read = async () => (await mount.read('config/root')).data as Record<string, unknown>;
  const refusal = async (data: Record<string, unknown>) => {
    const { status, errors } = await mount.call('update', 'aws/config/root', { data });
    expect(status).toBe(400);
    return errors![0];
  };

  test('GET is 404 before it is written', async () => {
    expect(await mount.call('read', 'aws/config/root')).toMatchObject({ status: 404, errors: [] });
  });

  test('a write overwrites the whole: what is not sent is cleared', async () => {
    await mount.write('config/root', rootConfig(front.endpoint, KEY, { max_retries: 4, username_template: '{{ .DisplayName }}' }));
    await mount.write('config/root', KEY);
    expect(await read()).toMatchObject({ region: '', iam_endpoint: '', sts_endpoint: '', max_retries: -1 });
    expect((await read())['username_template']).toMatch(/^\{\{ if \(eq \.Type "STS"\) \}\}/);
  });

  test('secret_key is never read, not even in an error', async () => {
    await mount.write('config/root', rootConfig(front.endpoint, KEY));
    expect(JSON.stringify(await mount.read('config/root'))).not.toContain(KEY.secret_key);
    front.on('AssumeRole', () => awsError(403, 'SignatureDoesNotMatch', `not the signature of ${KEY.secret_key}`));
    const { status, errors } = await mount.call('read', 'aws/creds/deploy');
    expect(status).toBe(500);
    expect(errors![0]).toContain('AWS: SignatureDoesNotMatch: not the signature of ***');
  });

  test('whether access_key and secret_key are good is not tried; the first use shows it', async () => {
    await mount.write('config/root', rootConfig(front.endpoint, KEY));
    expect(front.calls).toEqual([]);
  });

  test.each([
    ['access_key', { secret_key: 's' }],
    ['secret_key', { access_key: 'AKIA' }],
  ])('%s is required where the other half is given', async (field, data) => {
    expect(await refusal(data)).toBe(
      `${field} is required: give both access_key and secret_key, or neither to use the credential of the server's surroundings`,
    );
  });

  test('max_retries: -1 is the default of the SDK, two; a number is as many', async () => {
    front.on('AssumeRole', () => awsError(503, 'ServiceUnavailable', 'Service is unavailable'));
    for (const [max_retries, calls] of [
      [-1, 3],
      [0, 1],
      [1, 2],
    ] as const) {
      front.calls.length = 0;
      await mount.write('config/root', rootConfig(front.endpoint, KEY, { max_retries }));
      const { status, errors } = await mount.call('read', 'aws/creds/deploy');
      expect({ status, errors }).toEqual({
        status: 500,
        errors: [expect.stringContaining('Error assuming role: AWS: ServiceUnavailable: Service is unavailable (request ')],
      });
      expect(front.calls).toHaveLength(calls);
    }
    expect(await refusal({ ...KEY, max_retries: -2 })).toContain('max_retries must be -1');
  });

  test.each(['iam_endpoint', 'sts_endpoint'])('%s must be a URL', async (field) => {
    expect(await refusal({ ...KEY, [field]: 'localhost:80' })).toBe(`${field} must be a URL that begins with https:// or http://`);
  });

  test.each(['iam_endpoint', 'sts_endpoint'])('%s must not hold a user name or a password, which reading would show', async (field) => {
    for (const login of ['user:hidden', 'user', ':hidden']) {
      expect(await refusal({ ...KEY, [field]: `https://${login}@aws.example` })).toBe(`${field} must not hold a user name or a password`);
    }
    expect((await mount.call('read', 'aws/config/root')).status).toBe(404);
  });

  test('iam_endpoint and sts_endpoint are used for their own service', async () => {
    const iam = await AwsFront.start();
    iam.on('CreateUser', () => awsError(409, 'LimitExceeded', 'Cannot exceed quota for UsersPerAccount: 5000'));
    await mount.write('config/root', { ...KEY, iam_endpoint: iam.endpoint, sts_endpoint: front.endpoint });
    await mount.write('roles/user', { credential_type: 'iam_user', policy_arns: 'arn:aws:iam::aws:policy/ReadOnlyAccess' });
    await mount.read('creds/deploy');
    await mount.call('read', 'aws/creds/user');
    expect(front.calls.map((call) => call.action)).toEqual(['AssumeRole', 'GetCallerIdentity']);
    expect(iam.calls.map((call) => call.action)).toEqual(['CreateUser']);
    await iam.stop();
  });

  test('region falls back to AWS_REGION, then AWS_DEFAULT_REGION, then us-east-1', () => {
    expect(regionOf('eu-west-1', { AWS_REGION: 'a', AWS_DEFAULT_REGION: 'b' })).toBe('eu-west-1');
    expect(regionOf('', { AWS_REGION: 'a', AWS_DEFAULT_REGION: 'b' })).toBe('a');
    expect(regionOf('', { AWS_DEFAULT_REGION: 'b' })).toBe('b');
    expect(regionOf('', {})).toBe('us-east-1');
  });

  test('region is what calls are signed for', async () => {
    await mount.write('config/root', rootConfig(front.endpoint, KEY, { region: 'eu-central-1' }));
    await mount.read('creds/deploy');
    expect(front.calls[0]!.headers.authorization).toContain('/eu-central-1/sts/aws4_request');
    expect(await refusal({ ...KEY, region: 'no such region' })).toBe('region must be the name of a region, such as eu-central-1');
  });

  describe('sources of the credential, in their order', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cloud-config-'));
    const names = [
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_PROFILE',
      'AWS_SHARED_CREDENTIALS_FILE',
      'AWS_CONFIG_FILE',
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      'AWS_EC2_METADATA_DISABLED',
    ];
    const kept = Object.fromEntries(names.map((name) => [name, process.env[name]]));
    beforeEach(() => {
      for (const name of names) delete process.env[name];
      // What this machine has of its own.
      process.env['AWS_SHARED_CREDENTIALS_FILE'] = join(folder, 'none');
      process.env['AWS_CONFIG_FILE'] = join(folder, 'none');
      process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
    });
    afterAll(() => {
      for (const [name, value] of Object.entries(kept)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      rmSync(folder, { recursive: true, force: true });
    });
    const inEnvironment = () => {
      process.env['AWS_ACCESS_KEY_ID'] = 'AKIAENVIRONMENT00000';
      process.env['AWS_SECRET_ACCESS_KEY'] = 'environment-secret';
    };
    const inSharedFile = () => {
      const file = join(folder, 'credentials');
      writeFileSync(file, '[work]\naws_access_key_id = AKIASHAREDFILE000000\naws_secret_access_key = file-secret\n');
      process.env['AWS_SHARED_CREDENTIALS_FILE'] = file;
      process.env['AWS_PROFILE'] = 'work';
    };
    const usedKey = async (config: Record<string, unknown>) => {
      await mount.write('config/root', { sts_endpoint: front.endpoint, ...config });
      await mount.read('creds/deploy');
      return front.calls.at(-1)!.key;
    };

    test('access_key and secret_key of the configuration come before the environment', async () => {
      inEnvironment();
      inSharedFile();
      expect(await usedKey(KEY)).toBe(KEY.access_key);
    });

    test('the environment comes before the shared credentials file, also where AWS_PROFILE is set', async () => {
      inEnvironment();
      inSharedFile();
      expect(await usedKey({})).toBe('AKIAENVIRONMENT00000');
    });

    test('the shared credentials file comes before the role of the container', async () => {
      inSharedFile();
      process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${front.endpoint}/role`;
      expect(await usedKey({})).toBe('AKIASHAREDFILE000000');
    });

    test('the role of the container is the last', async () => {
      const role = {
        AccessKeyId: 'ASIACONTAINERROLE000',
        SecretAccessKey: 's',
        Token: 't',
        Expiration: new Date(Date.now() + 3_600_000).toISOString(),
      };
      front.on('', () => ({ status: 200, body: JSON.stringify(role), headers: { 'content-type': 'application/json' } }));
      process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${front.endpoint}/role`;
      expect(await usedKey({})).toBe('ASIACONTAINERROLE000');
    });

    test('with none of them the answer says what is missing, and where it could be', async () => {
      await mount.write('config/root', { sts_endpoint: front.endpoint });
      expect(await mount.call('read', 'aws/creds/deploy')).toMatchObject({
        status: 400,
        errors: [expect.stringMatching(/^Error assuming role: AWS: there is no access_key in config\/root, and no credential in /)],
      });
    });
  });

  describe('username_template', () => {
    test('one that cannot be used is refused', async () => {
      expect(await refusal({ ...KEY, username_template: '{{ .Nobody }}' })).toContain('unable to initialize username template');
    });

    test('one that is too long for IAM or STS whatever the names is stored with a warning', async () => {
      const { warnings } = await mount.write('config/root', {
        ...KEY,
        username_template: 'a-name-for-sessions-of-more-than-32-characters',
      });
      expect(warnings).toEqual(['username_template gives 46 characters for STS, which takes 32']);
    });
  });

  test('a region that AWS is not known to have is stored with a warning that names the field', async () => {
    const written = await mount.write('config/root', rootConfig(front.endpoint, KEY, { region: 'eu-centrla-1' }));
    expect(written.warnings).toEqual([
      'region: "eu-centrla-1" is none of the regions of AWS that this version knows, such as eu-central-1; calls go there all the same',
    ]);
    expect((await mount.write('config/root', rootConfig(front.endpoint, KEY, { region: 'eu-central-1' }))).warnings).toBeNull();
  });

  test('another endpoint gets no stored secret: a write without secret_key clears it, whoever writes', async () => {
    await mount.write('config/root', rootConfig(front.endpoint, KEY));
    expect(await refusal({ access_key: KEY.access_key, iam_endpoint: 'https://evil.example' })).toContain('secret_key is required');
    await mount.write('config/root', { sts_endpoint: 'https://evil.example' });
    expect((await mount.read('config/root')).data).toMatchObject({ access_key: '', sts_endpoint: 'https://evil.example' });
  });

  test('rotation_period needs access_key, and is at least a minute', async () => {
    expect(await refusal({ rotation_period: '1h' })).toContain('rotation_period and rotation_schedule need access_key and secret_key');
    expect(await refusal({ ...KEY, rotation_period: '30s' })).toBe('rotation_period must be 60 seconds or more');
    expect(await refusal({ ...KEY, rotation_period: '1h', rotation_schedule: '0 3 * * *' })).toContain('mutually exclusive');
    expect(await refusal({ ...KEY, rotation_window: '2h' })).toBe('rotation_window is only valid with rotation_schedule');
    expect(await refusal({ ...KEY, rotation_schedule: '0 3 * * *', rotation_window: '30m' })).toBe(
      'rotation_window must be 1 hour or more',
    );
  });

  test('a paused plan needs no access_key, and a read without a plan shows none', async () => {
    await mount.write('config/root', { rotation_period: '1h', disable_automated_rotation: true });
    expect(await read()).toMatchObject({ rotation_period: 3_600, disable_automated_rotation: true });
    await mount.write('config/root', KEY);
    for (const field of ['rotation_period', 'rotation_schedule', 'rotation_window', 'disable_automated_rotation'])
      expect(await read()).not.toHaveProperty(field);
  });
});

describe('config/lease', () => {
  let mount: TestMount;
  beforeEach(async () => {
    mount = await mountCloud();
  });
  afterEach(async () => mount.close());
  const refusal = async (data: Record<string, unknown>) => {
    const { status, errors } = await mount.call('update', 'aws/config/lease', { data });
    expect(status).toBe(400);
    return errors![0];
  };

  test('it is optional: GET is 404 until it is written', async () => {
    expect(await mount.call('read', 'aws/config/lease')).toMatchObject({ status: 404 });
  });

  test('lease and lease_max are both required', async () => {
    expect(await refusal({ lease_max: '1h' })).toBe("'lease' is a required parameter");
    expect(await refusal({ lease: '1h' })).toBe("'lease_max' is a required parameter");
  });

  test.each(['lease', 'lease_max'])('%s is a duration with a unit, of which h is the largest', async (field) => {
    const others = { lease: '1h', lease_max: '2h' };
    expect(await refusal({ ...others, [field]: '1d' })).toBe(`Invalid ${field}: time: unknown unit "d" in duration "1d"`);
    expect(await refusal({ ...others, [field]: '3600' })).toBe(`Invalid ${field}: time: missing unit in duration "3600"`);
    expect(await refusal({ ...others, [field]: 'soon' })).toBe(`Invalid ${field}: time: invalid duration "soon"`);
    expect(await refusal({ ...others, [field]: '-1h' })).toBe(`Invalid ${field}: it must not be negative`);
  });

  test('terms that the mount does not allow are stored with a warning', async () => {
    const { warnings } = await mount.write('config/lease', { lease: '800h', lease_max: '900h' });
    expect(warnings).toEqual([
      'lease: 2880000 s were asked for, and max_lease_ttl of the mount allows 2764800 s',
      'lease_max: 3240000 s were asked for, and max_lease_ttl of the mount allows 2764800 s',
    ]);
  });

  test('lease must not be longer than lease_max', async () => {
    expect(await refusal({ lease: '2h', lease_max: '1h' })).toBe('lease (2h) must not be longer than lease_max (1h)');
  });

  test('GET shows both as durations', async () => {
    await mount.write('config/lease', { lease: '90m', lease_max: '768h' });
    expect((await mount.read('config/lease')).data).toEqual({ lease: '1h30m0s', lease_max: '768h0m0s' });
  });
});
