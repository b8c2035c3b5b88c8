import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestCa, startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { anyone, mounted, type MountedJwt } from './mounted.ts';

const alice = { sub: 'alice', aud: 'strongroom' };

describe('the keys of an issuer', () => {
  let issuer: OidcIssuer;
  let mount: MountedJwt;

  beforeEach(async () => {
    issuer = await startOidcIssuer();
    mount = await mounted(issuer);
    await mount.write('role/ci', anyone);
  });
  afterEach(async () => {
    await mount.close();
    await issuer.stop();
  });

  test.each([
    ['PEM', () => ({ jwt_validation_pubkeys: issuer.publicKey() })],
    ['a key set', () => ({ jwks_url: issuer.jwksUrl })],
    ['key sets', () => ({ jwks_pairs: [{ jwks_url: issuer.jwksUrl }] })],
    ['discovery', () => ({ oidc_discovery_url: issuer.url })],
  ])('come from %s', async (_source, config) => {
    await mount.write('config', config());
    const { status, auth } = await mount.login('ci', issuer.sign(alice));
    expect({ status, policies: auth?.policies, metadata: auth?.metadata }).toEqual({
      status: 200,
      policies: ['default'],
      metadata: { role: 'ci' },
    });
    expect((await mount.login('ci', issuer.sign(alice, { forged: true }))).status).toBe(400);
  });

  test('come over TLS from a server that the given CA vouches for, and from no other', async () => {
    const ca = createTestCa();
    const secure = await startOidcIssuer({ tls: ca.issue('issuer', ['IP:127.0.0.1']) });
    secure.clock = issuer.clock;
    try {
      await mount.write('config', { jwks_url: secure.jwksUrl, jwks_ca_pem: ca.certificate });
      expect((await mount.login('ci', secure.sign(alice))).status).toBe(200);
      await expect(mount.write('config', { jwks_url: secure.jwksUrl })).rejects.toThrow('error checking jwks URL');
      await expect(mount.write('config', { jwks_url: secure.jwksUrl, jwks_ca_pem: createTestCa().certificate })).rejects.toThrow(
        'error checking jwks URL',
      );
    } finally {
      await secure.stop();
    }
  });
});
