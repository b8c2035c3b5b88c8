import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { AwsFront, awsError, awsResult, credentialsXml } from './aws-front.ts';
import { DEPLOY, mountCloud, REGION, rootConfig, S3 } from './cloud-mount.ts';
import { describeWithAws } from './describe-with-aws.ts';

const ISSUER = 'https://vault.example.org:8200';
const SERVER = 'arn:aws:iam::123456789012:role/strongroom';
const KEY = { access_key: 'AKIAPAYLOADPAYLOAD00', secret_key: 'payload-secret' };
const IDENTITY = { role_arn: SERVER, identity_token_audience: 'sts.amazonaws.com', identity_token_ttl: '10m' };

function identityConfig(endpoint: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...IDENTITY, region: REGION, iam_endpoint: endpoint, sts_endpoint: endpoint, ...more };
}

async function issuing(): Promise<TestMount> {
  const mount = await mountCloud();
  await mount.call('update', 'identity/oidc/config', { data: { issuer: ISSUER } });
  await mount.write('roles/deploy', { credential_type: 'assumed_role', role_arns: DEPLOY });
  return mount;
}

/** What AWS does with a token: it fetches the keys of the issuer without a token of its own, and checks signature, issuer, audience and time. */
async function verified(mount: TestMount, token: string): Promise<JWTPayload> {
  const { raw } = await mount.call('read', 'identity/oidc/plugins/.well-known/keys', { token: '' });
  const keys = createLocalJWKSet(JSON.parse(raw!.body as string) as JSONWebKeySet);
  const expected = { issuer: `${ISSUER}/v1/identity/oidc/plugins`, audience: IDENTITY.identity_token_audience };
  return (await jwtVerify(token, keys, { ...expected, currentDate: mount.clock.now() })).payload;
}

async function refusal(mount: TestMount, data: Record<string, unknown>, path = 'aws/config/root'): Promise<string> {
  const { status, errors } = await mount.call('update', path, { data });
  expect(status).toBe(400);
  return errors![0]!;
}

describe('web identity', () => {
  let front: AwsFront;
  let mount: TestMount;
  const hour = (action: string) => awsResult(action, credentialsXml(new Date(Date.now() + 3_600_000)));
  beforeAll(async () => {
    front = await AwsFront.start();
  });
  afterAll(async () => front.stop());
  beforeEach(async () => {
    front.reset();
    for (const action of ['AssumeRoleWithWebIdentity', 'AssumeRole', 'GetSessionToken']) front.on(action, () => hour(action));
    mount = await issuing();
  });
  afterEach(async () => mount.close());

  test('a role is assumed with a token of this mount, and its credentials are used until they end', async () => {
    await mount.write('config/root', identityConfig(front.endpoint));
    expect(front.calls).toEqual([]);
    await mount.read('creds/deploy');
    await mount.read('creds/deploy');
    expect(front.calls.map(({ action, key }) => [action, key])).toEqual([
      ['AssumeRoleWithWebIdentity', ''],
      ['AssumeRole', 'ASIAEXAMPLEEXAMPLE00'],
      ['AssumeRole', 'ASIAEXAMPLEEXAMPLE00'],
    ]);
    const [{ WebIdentityToken, ...sent }] = front.sent('AssumeRoleWithWebIdentity') as [Record<string, string>];
    expect(sent).toEqual({ RoleArn: SERVER, RoleSessionName: expect.stringMatching(/^strongroom-aws_\w+$/) });
    const { data } = await mount.read('config/root');
    const { identity_token_issuer, identity_token_subject } = data as Record<string, string>;
    const claims = await verified(mount, WebIdentityToken!);
    expect(claims).toMatchObject({ iss: identity_token_issuer, sub: identity_token_subject, aud: 'sts.amazonaws.com' });
    expect(claims.exp! - claims.iat!).toBe(600);
    const [head, , signature] = WebIdentityToken!.split('.');
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody else' })).toString('base64url');
    await expect(verified(mount, [head, forged, signature].join('.'))).rejects.toThrow('signature verification failed');
  });

  test('config/root shows what AWS must trust, and no token', async () => {
    await mount.write('config/root', identityConfig(front.endpoint, { identity_token_key: 'default' }));
    const { data } = await mount.read('config/root');
    expect(data).toMatchObject({
      ...{ access_key: '', role_arn: SERVER, identity_token_audience: 'sts.amazonaws.com', identity_token_key: 'default' },
      identity_token_ttl: 600,
      identity_token_issuer: `${ISSUER}/v1/identity/oidc/plugins`,
      identity_token_subject: expect.stringMatching(/^plugin-identity:root:secret:aws_\w+$/),
    });
    await mount.write('config/root', KEY);
    expect(Object.keys((await mount.read('config/root')).data as object).filter((name) => /identity|role_arn/.test(name))).toEqual([]);
  });

  test.each([
    ['access_key beside role_arn', { ...KEY, ...IDENTITY }, 'only one of access_key and role_arn can be set'],
    ['an audience without a role', { identity_token_audience: 'a' }, 'role_arn must be set when identity_token_audience is set'],
    ['a role without an audience', { role_arn: SERVER }, 'identity_token_audience must be set when role_arn is set'],
    ['a key without a role', { identity_token_key: 'k' }, 'identity_token_key is for role_arn, which is missing'],
    ['what is no ARN', { ...IDENTITY, role_arn: 'deploy' }, 'role_arn must look like arn:aws:iam::123456789012:role/name'],
    ['a token that ends at once', { ...IDENTITY, identity_token_ttl: 0 }, 'identity_token_ttl must be at least 1 second'],
    ['tokens in the clear', { ...IDENTITY, sts_endpoint: 'http://sts.example' }, 'endpoints of STS must begin with https://'],
    ['an unknown key', { ...IDENTITY, identity_token_key: '__proto__' }, 'no named key found at "__proto__"'],
    [
      'a plan without an access key',
      { ...IDENTITY, rotation_period: '1h' },
      'rotation_period and rotation_schedule need access_key and secret_key',
    ],
  ])('refuses %s', async (_, data, text) => {
    expect(await refusal(mount, data)).toContain(text);
    expect((await mount.call('read', 'aws/config/root')).status).toBe(404);
  });

  test('is refused while the server knows no address that AWS could reach', async () => {
    await mount.call('update', 'identity/oidc/config', { data: { issuer: '' } });
    expect(await refusal(mount, identityConfig(front.endpoint))).toContain(
      'set api_addr in its configuration, or issuer in identity/oidc/config',
    );
  });

  test('a refusal of the token is a fault of the server, names the field, and shows no token', async () => {
    await mount.write('config/root', identityConfig(front.endpoint));
    front.on('AssumeRoleWithWebIdentity', ({ parameters }) =>
      awsError(400, 'InvalidIdentityToken', `No OpenIDConnect provider found for ${parameters['WebIdentityToken']}`),
    );
    const { status, errors } = await mount.call('read', 'aws/creds/deploy');
    expect([status, errors![0]]).toEqual([
      500,
      expect.stringContaining(
        'AWS: InvalidIdentityToken: role_arn cannot be assumed with an identity token: No OpenIDConnect provider found for ***',
      ),
    ]);
    front.on('AssumeRoleWithWebIdentity', () => hour('AssumeRoleWithWebIdentity'));
    expect((await mount.read('creds/deploy')).data).toMatchObject({ access_key: 'ASIAEXAMPLEEXAMPLE00' });
  });

  test('a key that was deleted since is named, and nothing is sent', async () => {
    await mount.call('update', 'identity/oidc/key/mine', { data: { algorithm: 'ES256' } });
    await mount.write('config/root', identityConfig(front.endpoint, { identity_token_key: 'mine' }));
    await mount.call('delete', 'identity/oidc/key/mine');
    const { status, errors } = await mount.call('read', 'aws/creds/deploy');
    expect([status, errors![0]]).toEqual([500, expect.stringContaining('no named key found at "mine"')]);
    expect(front.calls).toEqual([]);
  });

  test('credentials that AWS gives to users alone are refused before AWS is asked', async () => {
    await mount.write('config/root', identityConfig(front.endpoint));
    await mount.write('roles/fed', { credential_type: 'federation_token', policy_arns: 'arn:aws:iam::aws:policy/ReadOnlyAccess' });
    await mount.write('roles/own', { credential_type: 'session_token' });
    for (const name of ['fed', 'own']) expect(await refusal(mount, {}, `aws/creds/${name}`)).toContain('needs access_key in config/root');
    expect(front.calls).toEqual([]);
  });

  test('session_token: the code of the MFA device is sent with its serial number', async () => {
    const serial = 'arn:aws:iam::123456789012:mfa/svc';
    await mount.write('config/root', rootConfig(front.endpoint, KEY));
    await mount.write('roles/own', { credential_type: 'session_token', mfa_serial_number: serial, default_sts_ttl: '30m' });
    expect((await mount.read('roles/own')).data).toMatchObject({ mfa_serial_number: serial });
    for (const mfa_code of ['', '12345', '1234567', 'abcdef']) {
      expect(await refusal(mount, { mfa_code }, 'aws/creds/own')).toContain('mfa_code must be the six digits');
    }
    const { data } = await mount.write('creds/own', { mfa_code: '123456' });
    expect(data).toMatchObject({ access_key: 'ASIAEXAMPLEEXAMPLE00', security_token: 'temporary-token' });
    expect(front.sent('GetSessionToken')).toEqual([{ DurationSeconds: '1800', SerialNumber: serial, TokenCode: '123456' }]);
    await mount.write('roles/plain', { credential_type: 'session_token' });
    expect(await refusal(mount, { mfa_code: '123456' }, 'aws/creds/plain')).toContain('mfa_code is for a role with mfa_serial_number');
    await mount.read('creds/plain');
    expect(front.sent('GetSessionToken').at(-1)).toEqual({ DurationSeconds: '3600' });
  });

  test.each([
    [{ mfa_serial_number: 'x' }, 'mfa_serial_number must be the serial number of a device'],
    [{ policy_arns: 'arn:aws:iam::aws:policy/ReadOnlyAccess' }, 'cannot supply policy_arns with session_token'],
    [{ credential_type: 'assumed_role', role_arns: DEPLOY, mfa_serial_number: 'GAHT12345678' }, "when credential_type isn't session_token"],
  ])('session_token: a role with %j is refused', async (data, text) => {
    expect(await refusal(mount, { credential_type: 'session_token', ...data }, 'aws/roles/own')).toContain(text);
  });
});

describe('the places of STS', () => {
  let front: AwsFront;
  let mount: TestMount;
  beforeEach(async () => {
    front = await AwsFront.start();
    front.on('AssumeRole', () => awsResult('AssumeRole', credentialsXml(new Date(Date.now() + 3_600_000))));
    mount = await issuing();
  });
  afterEach(async () => {
    await mount.close();
    await front.stop();
  });
  const stopped = async (): Promise<string> => {
    const gone = await AwsFront.start();
    const { endpoint } = gone;
    await gone.stop();
    return endpoint;
  };

  test('are tried in their order, each in its region, and each but the last once', async () => {
    const broken = await AwsFront.start();
    broken.on('AssumeRole', () => awsError(503, 'ServiceUnavailable', 'Service is unavailable'));
    const places = {
      sts_endpoint: await stopped(),
      sts_region: 'eu-west-1',
      sts_fallback_endpoints: [broken.endpoint, front.endpoint],
      sts_fallback_regions: ['eu-west-2', 'eu-west-3'],
    };
    await mount.write('config/root', rootConfig(front.endpoint, KEY, places));
    expect((await mount.read('config/root')).data).toMatchObject(places);
    await mount.read('creds/deploy');
    expect([broken, front].map(({ calls }) => calls.map(({ headers }) => headers.authorization!.split('/')[2]))).toEqual([
      ['eu-west-2'],
      ['eu-west-3'],
    ]);
    await broken.stop();
  });

  test('are not tried after a refusal, which would be the same elsewhere', async () => {
    const other = await AwsFront.start();
    front.on('AssumeRole', () => awsError(403, 'AccessDenied', 'no'));
    await mount.write(
      'config/root',
      rootConfig(front.endpoint, KEY, { sts_fallback_endpoints: other.endpoint, sts_fallback_regions: REGION }),
    );
    expect((await mount.call('read', 'aws/creds/deploy')).status).toBe(400);
    expect(other.calls).toEqual([]);
    await other.stop();
  });

  test('an outage of all of them is the server’s, and names them and what the last one said', async () => {
    const [gone, other] = [await stopped(), await stopped()];
    await mount.write(
      'config/root',
      rootConfig(gone, KEY, { max_retries: 0, sts_fallback_endpoints: other, sts_fallback_regions: REGION }),
    );
    const { status, errors } = await mount.call('read', 'aws/creds/deploy');
    expect([status, errors![0]]).toEqual([500, expect.stringContaining('ECONNREFUSED')]);
    expect(errors![0]).toContain(`; asked in turn: ${gone}, ${other}`);
  });

  test.each([
    [{ sts_fallback_endpoints: 'https://a.example' }, 'must have the same length: 1 and 0 were given'],
    [{ sts_fallback_endpoints: 'a.example', sts_fallback_regions: 'r' }, 'sts_fallback_endpoints must be a URL'],
    [{ sts_fallback_endpoints: 'https://u:p@a.example', sts_fallback_regions: 'r' }, 'must not hold a user name or a password'],
    [{ sts_fallback_endpoints: 'https://a.example', sts_fallback_regions: 'a b' }, 'sts_fallback_regions must be the name of a region'],
    [{ sts_region: '../x' }, 'sts_region must be the name of a region'],
    [
      { sts_fallback_endpoints: Array(6).fill('https://a.example'), sts_fallback_regions: Array(6).fill('r') },
      'sts_fallback_endpoints must be at most 5',
    ],
  ])('%j is refused', async (data, text) => {
    expect(await refusal(mount, { ...KEY, ...data })).toContain(text);
  });
});

describeWithAws('web identity at AWS', (aws) => {
  test('makes and removes users with the credentials of the role', async () => {
    const mount = await issuing();
    try {
      await mount.write('config/root', identityConfig(aws.front.endpoint, { sts_endpoint: aws.moto.endpoint }));
      await mount.write('roles/user', { credential_type: 'iam_user', policy_document: S3 });
      const { leaseId } = await mount.read('creds/user');
      expect(await aws.beside.madeUsers()).toHaveLength(1);
      expect(new Set(aws.front.calls.map(({ key }) => key.slice(0, 4)))).toEqual(new Set(['ASIA']));
      await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
      expect(await aws.beside.madeUsers()).toEqual([]);
    } finally {
      await mount.close();
    }
  });
});
