import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { mergeConfig } from '../src/config/merge-config.ts';
import { mounted, type MountedJwt } from './mounted.ts';

const ONE_SOURCE =
  "exactly one of 'jwt_validation_pubkeys', 'jwks_url', 'jwks_pairs', 'oidc_discovery_url', or 'provider_config' must be set";

describe('the configuration', () => {
  let issuer: OidcIssuer;
  let mount: MountedJwt;

  beforeAll(async () => {
    issuer = await startOidcIssuer();
  });
  beforeEach(async () => {
    mount = await mounted(issuer);
  });
  afterEach(async () => mount.close());
  afterAll(async () => issuer.stop());

  test('does not exist before the first write, and logins say so', async () => {
    expect((await mount.call('read', `${mount.path}/config`)).status).toBe(404);
    expect((await mount.login('ci', 'x')).errors).toEqual(['could not load configuration']);
    await expect(mount.write('config/test', {})).rejects.toThrow('could not load configuration');
  });

  test.each<[object, string]>([
    [{}, ONE_SOURCE],
    [{ jwks_url: 'https://a', oidc_discovery_url: 'https://a' }, ONE_SOURCE],
    [{ jwks_pairs: [] }, ONE_SOURCE],
    [{ jwks_pairs: ['https://a'] }, 'jwks_pairs: each pair is an object with jwks_url'],
    [{ jwks_pairs: [{ jwks_ca_pem: 'x' }] }, 'jwks_pairs: each pair is an object with jwks_url'],
    [{ jwks_pairs: [{ jwks_url: 'https://a', jwks_ca_pem: 'x' }] }, 'error checking jwks_ca_pem: no PEM certificate is in it'],
    [{ jwks_url: 'https://a', jwks_ca_pem: 'x' }, 'error checking jwks_ca_pem: no PEM certificate is in it'],
    [{ oidc_discovery_url: 'https://a', oidc_discovery_ca_pem: 'x' }, 'error checking oidc_discovery_ca_pem'],
    [{ jwks_url: 'file:///etc/passwd' }, 'jwks_url: not an address of the form https://host/path'],
    [{ jwks_url: 'https://me:secret@a' }, 'jwks_url: not an address'],
    [{ jwks_url: 'a' }, 'jwks_url: not an address'],
    [{ oidc_discovery_url: 'https://a/.well-known/openid-configuration' }, "'oidc_discovery_url' contains '.well-known' component"],
    [{ jwt_validation_pubkeys: 'zz' }, 'error parsing public key: data does not contain any valid public keys'],
    [{ jwks_url: 'https://a', jwt_supported_algs: 'HS256' }, 'invalid jwt_supported_algs: unsupported signing algorithm "HS256"'],
    [{ jwks_url: 'https://a', jwt_supported_algs: 'none' }, 'invalid jwt_supported_algs: unsupported signing algorithm "none"'],
    [{ jwks_url: 'https://a', oidc_client_id: 'x' }, "both 'oidc_client_id' and 'oidc_client_secret' must be set for OIDC"],
    [{ jwks_url: 'https://a', oidc_client_id: 'x', oidc_client_secret: 'y' }, "'oidc_discovery_url' must be set for OIDC"],
    [{ jwks_url: 'https://a', oidc_response_mode: 'zz' }, 'invalid response_mode: "zz"'],
    [{ jwks_url: 'https://a', oidc_response_types: 'zz' }, "invalid response_types [zz]. 'code' and 'id_token' are allowed"],
    [{ jwks_url: 'https://a', oidc_response_types: 'id_token' }, 'query response_mode may not be used with an id_token response_type'],
    [
      { jwks_url: 'https://a', provider_config: { provider: 'zz' } },
      'invalid provider_config: provider "zz" not found in custom providers',
    ],
    [{ jwks_url: 'https://a', provider_config: { provider: 'azure' } }, 'supported are ibmisam, secureauth'],
    [{ jwks_url: 'https://a', provider_config: { x: 1 } }, 'invalid provider_config: it must name its provider'],
  ])('%j is refused', async (data, text) => {
    const { status, errors } = await mount.call('update', `${mount.path}/config`, { data: data as Record<string, unknown> });
    expect(status).toBe(400);
    expect(errors!.join()).toContain(text);
  });

  test('refuses a private key, without repeating it', async () => {
    const { generateKeyPairSync } = await import('node:crypto');
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { errors } = await mount.call('update', `${mount.path}/config`, { data: { jwt_validation_pubkeys: pem } });
    expect(errors).toEqual(['error parsing public key: this is a private key; write its public key']);
  });

  test.each([
    ['a short RSA key', 'rsa', { modulusLength: 1_024 }, 'an RSA key needs 2048 bits, and this one has 1024'],
    ['a key for another use', 'x25519', {}, 'keys of the kind x25519 are not supported'],
    ['a curve without an algorithm', 'ec', { namedCurve: 'secp256k1' }, 'the curve secp256k1 is not supported'],
  ] as const)('refuses %s', async (_what, kind, options, text) => {
    const { generateKeyPairSync } = await import('node:crypto');
    const { publicKey } = generateKeyPairSync(kind as 'rsa', options as { modulusLength: number });
    const data = { jwt_validation_pubkeys: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
    expect((await mount.call('update', `${mount.path}/config`, { data })).errors).toEqual([`error parsing public key: ${text}`]);
  });

  test('accepts certificates, and several keys in one text', async () => {
    const { createTestCa } = await import('@strongroom/lab');
    const { cert } = createTestCa().issue('signer');
    await mount.write('config', { jwt_validation_pubkeys: `${cert}\n${issuer.publicKey('EdDSA')}` });
    await mount.write('role/ci', { role_type: 'jwt', user_claim: 'sub', bound_subject: 'alice' });
    expect((await mount.login('ci', issuer.sign({ sub: 'alice' }, { alg: 'EdDSA' }))).status).toBe(200);
  });

  test('a write replaces everything, but for namespace_in_state', async () => {
    await mount.write('config', { jwks_url: issuer.jwksUrl, bound_issuer: 'x', default_role: 'CI', namespace_in_state: false });
    await mount.write('config', { jwks_url: issuer.jwksUrl });
    expect((await mount.read('config')).data).toMatchObject({
      bound_issuer: '',
      default_role: '',
      namespace_in_state: false,
      status: 'valid',
    });
  });

  test('never shows the client secret', async () => {
    const client = { oidc_discovery_url: issuer.url, oidc_client_id: 'id', oidc_client_secret: 'hidden' };
    await mount.write('config', client);
    expect(JSON.stringify((await mount.read('config')).data)).not.toContain('hidden');
  });

  describe('the client secret that a write leaves out', () => {
    const stored = mergeConfig(
      undefined,
      { oidc_discovery_url: 'https://idp', oidc_client_id: 'id', oidc_client_secret: 'hidden' },
      new Set(['oidc_client_secret']),
    );
    const rewritten =
      (data: object): (() => string) =>
      () =>
        mergeConfig(stored, data as Record<string, unknown>, new Set(Object.keys(data))).oidc_client_secret;

    test('stays for the same client of the same issuer', () => {
      expect(rewritten({ oidc_discovery_url: 'https://idp', oidc_client_id: 'id', default_role: 'x' })()).toBe('hidden');
    });

    test.each([
      ['another issuer', { oidc_discovery_url: 'https://evil', oidc_client_id: 'id' }],
      ['another client', { oidc_discovery_url: 'https://idp', oidc_client_id: 'other' }],
      [
        'other names in its certificate',
        { oidc_discovery_url: 'https://idp', oidc_client_id: 'id', override_allowed_server_names: ['evil'] },
      ],
      ['an empty one instead', { oidc_discovery_url: 'https://idp', oidc_client_id: 'id', oidc_client_secret: '' }],
    ])('is not sent to %s', (_what, data) => {
      expect(rewritten(data)).toThrow("both 'oidc_client_id' and 'oidc_client_secret' must be set for OIDC");
    });

    test('goes with the client', () => {
      expect(rewritten({ oidc_discovery_url: 'https://idp' })()).toBe('');
    });
  });

  test('is stored with key sets that are read back', async () => {
    const jwks_pairs = [{ jwks_url: issuer.jwksUrl, jwks_ca_pem: '' }];
    await mount.write('config', { jwks_pairs });
    expect((await mount.read('config')).data).toMatchObject({ jwks_pairs });
  });

  test('accepts other names in the certificate of the issuer’s server only where they are named', async () => {
    const { createTestCa } = await import('@strongroom/lab');
    const ca = createTestCa();
    const secure = await startOidcIssuer({ tls: ca.issue('issuer', ['DNS:issuer.internal']) });
    try {
      const config = { jwks_url: secure.jwksUrl, jwks_ca_pem: ca.certificate };
      await expect(mount.write('config', config)).rejects.toThrow('error checking jwks URL');
      await expect(mount.write('config', { ...config, override_allowed_server_names: 'other.internal' })).rejects.toThrow('error checking');
      await mount.write('config', { ...config, override_allowed_server_names: 'other.internal,issuer.internal' });
    } finally {
      await secure.stop();
    }
  });
});
