import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { silentLog } from '@strongroom/engine-sdk';
import { describeWithMoto, startMoto } from '@strongroom/lab';
import { translateAwsError } from '@strongroom/sync-aws';
import { createNetworkGuard, type DestinationHost, type DestinationSession, type NetworkGuard } from '@strongroom/sync-sdk';
import { awsSmDestination } from '../src/index.ts';
import type { AwsSmConnection } from '../src/connection.ts';
import { AwsOutside, connectionTo } from './aws-outside.ts';

const OPEN = { allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: true };
const ROLE = 'arn:aws:iam::123456789012:role/sync';
const MARK = { destination: 'a'.repeat(24), association: 'b'.repeat(24) };

describe('invalid settings are reported without a call to AWS', () => {
  const good = connectionTo('http://127.0.0.1:1');
  test.each<[Partial<AwsSmConnection>, string]>([
    [{ access_key_id: undefined }, 'access_key_id and secret_access_key belong together'],
    [{ secret_access_key: undefined }, 'access_key_id and secret_access_key belong together'],
    [{ role_arn: 'admin' }, 'role_arn must look like'],
    [{ external_id: 'x' }, 'external_id is for role_arn'],
    [{ identity_token_audience: 'a' }, 'role_arn must be set when identity_token_audience is set'],
    [{ identity_token_audience: 'a', role_arn: ROLE }, 'only one of access_key_id and identity_token_audience'],
    [{ identity_token_key: 'k' }, 'identity_token_key is for identity_token_audience'],
    [{ identity_token_audience: 'a', identity_token_ttl: 0 }, 'identity_token_ttl must be at least 1 second'],
    [{ identity_token_audience: 'a', external_id: 'ext' }, 'external_id is for a role that is assumed with an access key'],
    [{ identity_token_audience: 'a', sts_endpoint: 'http://sts.example' }, 'sts_endpoint must begin with https://'],
    [{ region: 'Frankfurt' }, 'region must look like'],
    [{ replica_regions: { 'eu-central-1': '' } }, 'replica_regions must not hold the region'],
    [{ recovery_window_in_days: 3 }, 'recovery_window_in_days must be 0, or from 7 to 30'],
    [{ endpoint: 'nowhere' }, 'endpoint must be an address'],
    [{ sts_endpoint: 'ftp://x' }, 'sts_endpoint must be an address'],
    [{ endpoint: 'https://user:password@vpce.example' }, 'endpoint must hold no user name and no password'],
    [{ sts_endpoint: 'http://user@sts.example' }, 'sts_endpoint must hold no user name and no password'],
  ])('%j', (change, complaint) => {
    expect(awsSmDestination.check!({ ...good, ...change }).join()).toContain(complaint);
  });

  test('a connection without any field is fine: everything comes from the chain of AWS', () => {
    expect(awsSmDestination.check!({ recovery_window_in_days: 7 } as AwsSmConnection)).toEqual([]);
  });
});

describe('what AWS says becomes an error of destinations', () => {
  const failure = (name: string, status: number | undefined, more: object = {}) =>
    translateAwsError(
      'AWS Secrets Manager',
      Object.assign(new Error('no'), { name, $metadata: { httpStatusCode: status, requestId: 'r-1' }, ...more }),
      new Date(0),
    );

  test.each([
    ['AccessDeniedException', 400, 'client_side'],
    ['InvalidParameterException', 400, 'client_side'],
    ['LimitExceededException', 400, 'client_side'],
    ['SyntaxError', 403, 'client_side'],
    ['CredentialsProviderError', undefined, 'client_side'],
    ['ThrottlingException', 400, 'throttled'],
    ['TooManyRequestsException', 429, 'throttled'],
    ['InternalServiceError', 500, 'external_service'],
    ['ServiceUnavailable', 503, 'external_service'],
    ['TimeoutError', undefined, 'external_service'],
  ])('%s with status %s', (name, status, code) => {
    expect(failure(name, status).code).toBe(code);
  });

  test('with its code and request id', () => {
    expect(failure('AccessDeniedException', 400)).toMatchObject({ providerCode: 'AccessDeniedException', requestId: 'r-1' });
  });
});

describeWithMoto('AWS Secrets Manager, emulated by moto', () => {
  const outside = new AwsOutside();
  const open: [DestinationSession, NetworkGuard][] = [];
  beforeAll(async () => outside.start(await startMoto()), 60_000);
  afterEach(async () => {
    for (const [session, network] of open.splice(0)) {
      await session.close();
      await network.close();
    }
  });
  afterAll(async () => outside.stop());

  const session = async (
    more: Partial<AwsSmConnection> = {},
    host: Pick<DestinationHost, 'identityToken'> = {},
  ): Promise<DestinationSession> => {
    const network = createNetworkGuard(OPEN);
    const made = await awsSmDestination.open(connectionTo(outside.endpoint, more), {
      log: silentLog,
      now: () => new Date(),
      network,
      ...host,
    });
    open.push([made, network]);
    return made;
  };
  const signal = AbortSignal.timeout(60_000);
  const put = (name: string, value = 'v', operationId = crypto.randomUUID()) => ({
    name,
    value,
    mark: MARK,
    tags: {},
    operationId,
    signal,
  });

  test('a repeated put with the same operation makes no second version', async () => {
    const aws = await session();
    const operation = crypto.randomUUID();
    await aws.put(put('once', 'v', operation));
    await aws.put({ ...put('once', 'v', operation), current: (await aws.read({ name: 'once', signal }))! });
    const { Versions } = await outside.client.listSecretVersionIds({ SecretId: 'once', IncludeDeprecated: true });
    expect(Versions?.map(({ VersionId }) => VersionId)).toEqual([operation]);
  });

  test('kms_key_id encrypts what is made and what is changed', async () => {
    const aws = await session({ kms_key_id: 'alias/one' });
    await aws.put(put('keyed'));
    expect((await outside.client.describeSecret({ SecretId: 'keyed' })).KmsKeyId).toBe('alias/one');
    const other = await session({ kms_key_id: 'alias/two' });
    await other.put({ ...put('keyed', 'w'), current: (await other.read({ name: 'keyed', signal }))! });
    expect((await outside.client.describeSecret({ SecretId: 'keyed' })).KmsKeyId).toBe('alias/two');
    expect((await outside.read('keyed'))?.value).toBe('w');
  });

  test('replica_regions copies secrets, also to regions that are added later, and a replicated secret can be removed', async () => {
    const aws = await session({ replica_regions: { 'us-east-1': '' } });
    await aws.put(put('copied'));
    const wider = await session({ replica_regions: { 'us-east-1': '', 'us-west-2': 'alias/aws/secretsmanager' } });
    await wider.put({ ...put('copied', 'w'), current: (await wider.read({ name: 'copied', signal }))! });
    const { ReplicationStatus } = await outside.client.describeSecret({ SecretId: 'copied' });
    expect(ReplicationStatus?.map(({ Region }) => Region).sort()).toEqual(['us-east-1', 'us-west-2']);
    await wider.remove({ name: 'copied', current: (await wider.read({ name: 'copied', signal }))!, signal });
    expect(await outside.read('copied')).toBeUndefined();
  });

  test('a secret whose regions were taken out of replica_regions can be removed', async () => {
    const aws = await session({ replica_regions: { 'us-east-1': '' } });
    await aws.put(put('shrunk'));
    const alone = await session();
    await alone.remove({ name: 'shrunk', current: (await alone.read({ name: 'shrunk', signal }))!, signal });
    expect(await outside.read('shrunk')).toBeUndefined();
  });

  test('recovery_window_in_days keeps a removed secret for a while; 0 removes it at once', async () => {
    const aws = await session();
    await aws.put(put('kept'));
    await aws.remove({ name: 'kept', current: (await aws.read({ name: 'kept', signal }))!, signal });
    expect(await aws.read({ name: 'kept', signal })).toMatchObject({ softDeleted: true, mark: MARK });
    const swift = await session({ recovery_window_in_days: 0 });
    await swift.put(put('gone'));
    await swift.remove({ name: 'gone', current: (await swift.read({ name: 'gone', signal }))!, signal });
    expect(await swift.read({ name: 'gone', signal })).toBeUndefined();
  });

  test('role_arn and external_id are used before anything else', async () => {
    const aws = await session({ role_arn: 'arn:aws:iam::123456789012:role/sync', external_id: 'ext-1' });
    const before = outside.targets.length;
    expect(await aws.read({ name: 'nothing', signal })).toBeUndefined();
    expect(outside.targets.slice(before)).toEqual(['/', 'DescribeSecret']);
    const assumed = new URLSearchParams(outside.bodies[before]);
    expect(assumed.get('Action')).toBe('AssumeRole');
    expect(assumed.get('RoleArn')).toBe('arn:aws:iam::123456789012:role/sync');
    expect(assumed.get('ExternalId')).toBe('ext-1');
  });

  describe('an identity token', () => {
    const keyless = {
      access_key_id: undefined,
      secret_access_key: undefined,
      role_arn: ROLE,
      identity_token_audience: 'sts.amazonaws.com',
    };

    test('takes the place of an access key, and its credentials are used until they end', async () => {
      const orders: unknown[] = [];
      const identityToken: DestinationHost['identityToken'] = async (order) => {
        orders.push(order);
        return { token: 'a.b.c', ttl: 600, issuer: 'i', subject: 's' };
      };
      const aws = await session({ ...keyless, identity_token_key: 'k', identity_token_ttl: 600 }, { identityToken });
      const before = outside.targets.length;
      await aws.read({ name: 'nothing', signal });
      await aws.read({ name: 'nothing', signal });
      expect(outside.targets.slice(before)).toEqual(['/', 'DescribeSecret', 'DescribeSecret']);
      const sent = Object.fromEntries(new URLSearchParams(outside.bodies[before]));
      expect(sent).toMatchObject({ Action: 'AssumeRoleWithWebIdentity', RoleArn: ROLE, WebIdentityToken: 'a.b.c' });
      expect(orders).toEqual([{ audience: 'sts.amazonaws.com', key: 'k', ttl: 600 }]);
    });

    test('is in no error, whatever answers in the place of STS', async () => {
      const echo = createServer((request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          const token = new URLSearchParams(body).get('WebIdentityToken')!;
          response.writeHead(400, { 'content-type': 'text/xml' });
          response.end(
            `<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>bad token ${token}</Message></Error></ErrorResponse>`,
          );
        });
      });
      await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
      try {
        const sts_endpoint = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
        const token = 'header.claims.signature';
        const identityToken = async () => ({ token, ttl: 600, issuer: 'i', subject: 's' });
        const aws = await session({ ...keyless, sts_endpoint }, { identityToken });
        const refusal = (await aws.read({ name: 'nothing', signal }).catch((error: unknown) => error)) as Error;
        expect(refusal.message).toContain('bad token the identity token');
        expect(refusal.message).not.toContain(token);
      } finally {
        echo.close();
      }
    });

    test('that cannot be signed is a fault of the settings, and AWS is not asked', async () => {
      const before = outside.targets.length;
      const failing = await session(keyless, { identityToken: () => Promise.reject(new Error('no named key found at "k"')) });
      for (const aws of [failing, await session(keyless)])
        await expect(aws.read({ name: 'nothing', signal })).rejects.toMatchObject({ code: 'configuration_invalid' });
      expect(outside.targets.slice(before)).toEqual([]);
    });
  });

  test('credentials that AWS refuses are a ClientSideError, also where the refusal cannot be read', async () => {
    await outside.moto.enforce(0);
    try {
      const aws = await session();
      await expect(aws.read({ name: 'nothing', signal })).rejects.toMatchObject({ code: 'client_side', providerCode: expect.any(String) });
    } finally {
      await outside.moto.enforce(Infinity);
    }
  });
});
