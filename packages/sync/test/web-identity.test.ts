import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Plugin } from '@strongroom/engine-sdk';
import { describeWithMoto, MotoDoor, startMoto } from '@strongroom/lab';
import { awsSmDestination } from '@strongroom/sync-aws-sm';
import { awsSsmDestination } from '@strongroom/sync-aws-ssm';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { checked, syncMount, type SyncMount } from './sync-mount.ts';

const ADDRESS = 'https://vault.example.org:8200';
const ISSUER = `${ADDRESS}/v1/identity/oidc/plugins`;
const AUDIENCE = 'sts.amazonaws.com';
const ROLE = 'arn:aws:iam::123456789012:role/sync';

jest.setTimeout(60_000);

describeWithMoto('destinations of AWS that show an identity token of the server in place of an access key', () => {
  let door: MotoDoor;
  let sync: SyncMount;

  beforeAll(async () => {
    door = await MotoDoor.open(await startMoto());
  });
  afterAll(async () => door?.stop());
  beforeEach(async () => {
    await door.moto.reset();
    sync = await syncMount({ plugins: [awsSmDestination, awsSsmDestination] as unknown as Plugin[] });
    await checked(sync.ask('update', 'identity/oidc/config', { issuer: ADDRESS }));
    await sync.put('app/web', { user: 'u' });
  });
  afterEach(async () => sync.close());

  const settings = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
    region: 'eu-central-1',
    role_arn: ROLE,
    identity_token_audience: AUDIENCE,
    endpoint: door.endpoint,
    sts_endpoint: door.endpoint,
    allowed_ipv4_addresses: '127.0.0.1',
    allowed_ports: new URL(door.endpoint).port,
    ...more,
  });
  /** Makes the destination, sends it the secret, and returns the calls of STS that this took. */
  const sent = async (place: string, more?: Record<string, unknown>): Promise<Record<string, string>[]> => {
    const before = door.targets.length;
    await checked(sync.ask('update', `sys/sync/destinations/${place}`, settings(more)));
    const wish = { mount: 'kv', secret_name: 'app/web', wait: '30s' };
    await checked(sync.ask('update', `sys/sync/destinations/${place}/associations/set`, wish));
    expect(await sync.associations(place)).toMatchObject([{ sync_status: 'SYNCED' }]);
    const forms = door.targets.flatMap((target, at) => (at >= before && target === '/' ? [door.bodies[at]] : []));
    return forms.map((form) => Object.fromEntries(new URLSearchParams(form)));
  };
  /** What AWS does with the token: it fetches the keys of the issuer without a token of its own, and checks signature, issuer, audience and time. */
  const verified = async (token: string): Promise<JWTPayload> => {
    const { raw } = await sync.call('read', 'identity/oidc/plugins/.well-known/keys', { token: '' });
    const keys = createLocalJWKSet(JSON.parse(raw!.body as string) as JSONWebKeySet);
    const { payload } = await jwtVerify(token, keys, { issuer: ISSUER, audience: AUDIENCE, currentDate: sync.clock.now() });
    return payload;
  };

  test.each(['aws-sm', 'aws-ssm'])('%s: the published keys verify the token, which is of this destination and for AWS', async (type) => {
    const calls = await sent(`${type}/prod`, { identity_token_ttl: '10m' });
    expect(calls).toMatchObject([{ Action: 'AssumeRoleWithWebIdentity', RoleArn: ROLE, RoleSessionName: 'strongroom-sync' }]);
    const claims = await verified(calls[0]!['WebIdentityToken']!);
    expect(claims).toMatchObject({ aud: AUDIENCE, sub: `plugin-identity:root:secret:sys/sync:${type}/prod`, namespace: 'root' });
    expect(claims.exp! - claims.iat!).toBe(600);
  });

  test('two destinations have different subjects, and a key of its own signs for the one that names it', async () => {
    await checked(sync.ask('update', 'identity/oidc/key/mine', { algorithm: 'ES256' }));
    const [[first], [second]] = [
      await sent('aws-sm/prod'),
      await sent('aws-sm/stage', { identity_token_key: 'mine', secret_name_template: 'stage' }),
    ];
    const tokens = [first!['WebIdentityToken']!, second!['WebIdentityToken']!];
    expect((await Promise.all(tokens.map(verified))).map(({ sub }) => sub)).toEqual(
      ['prod', 'stage'].map((name) => `plugin-identity:root:secret:sys/sync:aws-sm/${name}`),
    );
    expect(tokens.map((token) => (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { alg: string }).alg)).toEqual([
      'RS256',
      'ES256',
    ]);
  });

  test('a key that is gone is an error of the association, and AWS is not asked', async () => {
    await checked(sync.ask('update', 'identity/oidc/key/mine', { algorithm: 'ES256' }));
    await checked(sync.ask('update', 'sys/sync/destinations/aws-sm/prod', settings({ identity_token_key: 'mine' })));
    await checked(sync.ask('delete', 'identity/oidc/key/mine'));
    const before = door.targets.length;
    const wish = { mount: 'kv', secret_name: 'app/web', wait: '30s' };
    await checked(sync.ask('update', 'sys/sync/destinations/aws-sm/prod/associations/set', wish));
    const [association] = await sync.associations('aws-sm/prod');
    expect(association!.last_error).toMatchObject({
      code: 'configuration_invalid',
      message: expect.stringContaining('no named key found at "mine"'),
    });
    expect(door.targets).toHaveLength(before);
  });
});
