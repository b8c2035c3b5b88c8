import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { EngineHost, EnginePackage } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { passwordLogin } from '../../password-login.ts';
import { answered, identityToken, isActive, issuer, ISSUER, keyIdOf, login } from './issuer.ts';

const open: TestMount[] = [];
afterEach(async () => {
  for (const mount of open.splice(0)) await mount.close();
});

async function withRole(): Promise<TestMount> {
  const mount = await issuer();
  open.push(mount);
  await answered(mount, 'update', 'identity/oidc/key/k', { algorithm: 'ES256', allowed_client_ids: '*' });
  await answered(mount, 'update', 'identity/oidc/role/r', { key: 'k', ttl: '1h', client_id: 'app' });
  return mount;
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
}

describe('an identity token', () => {
  test('says who the caller is, by the template of the role', async () => {
    const mount = await withRole();
    const template =
      '{"name": {{identity.entity.name}}, "groups": {{identity.entity.groups.names}}, "desk": {{identity.entity.metadata.desk}}}';
    await answered(mount, 'update', 'identity/oidc/role/r', { template: Buffer.from(template).toString('base64') });
    expect(await answered(mount, 'read', 'identity/oidc/role/r')).toEqual({ key: 'k', template, ttl: 3_600, client_id: 'app' });
    const ann = await login(mount);
    const { entity_id } = await answered(mount, 'read', 'auth/token/lookup-self', {}, ann);
    await answered(mount, 'update', `identity/entity/id/${String(entity_id)}`, { name: 'ann', metadata: { desk: '4", "sub": "root' } });
    const inner = await answered(mount, 'update', 'identity/group', { name: 'inner', member_entity_ids: [entity_id] });
    await answered(mount, 'update', 'identity/group', { name: 'outer', member_group_ids: [inner['id']] });
    const now = Math.floor(mount.clock.millis() / 1_000);
    expect(claimsOf(await identityToken(mount, 'r', ann))).toEqual({
      iss: `${ISSUER}/v1/identity/oidc`,
      sub: entity_id,
      aud: 'app',
      iat: now,
      exp: now + 3_600,
      namespace: 'root',
      name: 'ann',
      groups: ['inner', 'outer'],
      desk: '4", "sub": "root',
    });
  });

  test('is inactive after its time, for another audience, and while its entity is disabled or gone', async () => {
    const mount = await withRole();
    const ann = await login(mount);
    const token = await identityToken(mount, 'r', ann);
    const problem = async (data: Record<string, unknown>): Promise<unknown> =>
      (await answered(mount, 'update', 'identity/oidc/introspect', { token, ...data }))['error'];
    expect(await problem({})).toBeUndefined();
    expect(await problem({ client_id: 'app' })).toBeUndefined();
    expect(await problem({ client_id: 'other' })).toBe('error validating claims: validation failed, invalid audience claim (aud)');
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    expect(await problem({ token: `${unsigned}.${token.split('.')[1]!}.` })).toBe('unable to validate the token signature');
    for (const other of [`${token}==`, `${token.slice(0, -5)}!${token.slice(-5)}`])
      expect(await problem({ token: other })).toBe('error parsing token: the signature is not base64url');
    const id = String(claimsOf(token)['sub']);
    await answered(mount, 'update', `identity/entity/id/${id}`, { disabled: true });
    expect(await problem({})).toBe('entity is disabled');
    await answered(mount, 'delete', `identity/entity/id/${id}`);
    expect(await problem({})).toBe('entity was not found');
    for (const wrong of [
      'https://example.org/',
      'https://example.org\\path',
      'https://example.org:65536',
      'https://u@example.org',
      'ftp://example.org',
    ])
      await expect(answered(mount, 'update', 'identity/oidc/config', { issuer: wrong })).rejects.toThrow('400 invalid issuer');
    await answered(mount, 'update', 'identity/oidc/config', { issuer: 'https://elsewhere.example.org' });
    expect(await problem({})).toBe('error validating claims: validation failed, invalid issuer claim (iss)');
    await mount.advance('1h');
    await answered(mount, 'update', 'identity/oidc/config', { issuer: ISSUER });
    expect(await problem({})).toBe('error validating claims: validation failed, token is expired (exp)');
  });

  test('is not made for a token without an entity, nor where the server knows no address', async () => {
    const mount = await withRole();
    await expect(identityToken(mount, 'r', 'root')).rejects.toThrow("400 no entity associated with the request's token");
    const ann = await login(mount);
    await answered(mount, 'update', 'identity/oidc/config', { issuer: '' });
    await expect(identityToken(mount, 'r', ann)).rejects.toThrow('set api_addr in its configuration, or issuer in identity/oidc/config');
  });

  test('is signed for a role only where the key allows its client, and by its own terms', async () => {
    const mount = await withRole();
    const ann = await login(mount);
    await answered(mount, 'update', 'identity/oidc/key/k', { allowed_client_ids: 'other,app' });
    expect(await isActive(mount, await identityToken(mount, 'r', ann))).toBe(true);
    await answered(mount, 'update', 'identity/oidc/key/k', { allowed_client_ids: [] });
    await expect(identityToken(mount, 'r', ann)).rejects.toThrow(
      'the key "k" does not list the client ID of the role "r" as an allowed client ID',
    );
  });

  test('is not configured by names that no record can have', async () => {
    const mount = await withRole();
    for (const name of ['x'.repeat(4_000), 'a/b', 'k\0', '__proto__']) {
      const quoted = JSON.stringify(name);
      const save = async (path: string, data: Record<string, unknown>): Promise<unknown> =>
        answered(mount, 'update', `identity/oidc/${path}`, data);
      await expect(save('role/r', { key: name })).rejects.toThrow(`400 cannot find key ${quoted}`);
      await expect(save('client/c', { key: name })).rejects.toThrow(`400 key ${quoted} does not exist`);
      await expect(save('client/c', { assignments: [name] })).rejects.toThrow(`400 assignment ${quoted} does not exist`);
      await expect(save('provider/p', { scopes_supported: [name] })).rejects.toThrow(`400 scope ${quoted} does not exist`);
    }
    await expect(answered(mount, 'update', `identity/oidc/key/${'k'.repeat(257)}`)).rejects.toThrow(
      '400 the name is longer than 256 characters',
    );
  });

  test('can be asked for at another server than the one that was configured', async () => {
    const disk = sharedMemory();
    const clock = manualClock();
    const one = await mountForTest(passwordLogin('pw'), { storage: disk.open(), clock });
    const two = await mountForTest(passwordLogin('pw'), { storage: disk.open(), clock });
    open.push(one, two);
    await answered(one, 'update', 'identity/oidc/config', { issuer: ISSUER });
    await answered(one, 'update', 'identity/oidc/key/k', { algorithm: 'EdDSA', allowed_client_ids: '*' });
    await answered(one, 'update', 'identity/oidc/role/r', { key: 'k' });
    await answered(one, 'update', 'sys/policies/acl/reader', { policy: 'path "identity/oidc/*" { capabilities = ["read"] }' });
    await answered(one, 'update', 'auth/pw/users/ann', { password: 'p', policies: 'reader' });
    const token = await identityToken(two, 'r', await login(two));
    expect(await isActive(one, token)).toBe(true);
  });
});

/** Who asks for tokens in the name of a mount, as the engine of a cloud does. */
function cloudOf(hosts: EngineHost[]): EnginePackage {
  return {
    name: 'cloud',
    kind: 'secret',
    apiVersion: 2,
    version: '1.0.0',
    create: (host) => {
      hosts.push(host);
      return { paths: [] };
    },
  };
}

describe('a mount', () => {
  async function mounted() {
    const hosts: EngineHost[] = [];
    const mount = await mountForTest(cloudOf(hosts), { clock: manualClock() });
    open.push(mount);
    return { mount, host: hosts[0]!, identity: hosts[0]!.identity };
  }
  const keysAt = async (mount: TestMount, at: string): Promise<JsonWebKey[]> =>
    (await answered(mount, 'read', `identity/oidc/${at}.well-known/keys`, {}, ''))['keys'] as JsonWebKey[];

  test('has tokens of an issuer of their own, whose key is published there from then on', async () => {
    const { mount, host, identity } = await mounted();
    await answered(mount, 'update', 'identity/oidc/config', { issuer: ISSUER });
    await answered(mount, 'update', 'identity/oidc/key/k', { algorithm: 'ES256' });
    expect(await keysAt(mount, 'plugins/')).toEqual([]);
    const subject = `plugin-identity:root:secret:${host.mount.accessor}`;
    expect(await identity.claims()).toEqual({ issuer: `${ISSUER}/v1/identity/oidc/plugins`, subject });
    const { token, ...rest } = await identity.token({ audience: 'sts.amazonaws.com', key: 'k', ttl: 600, part: 'aws-sm/prod' });
    expect(rest).toEqual({ ttl: 600, issuer: `${ISSUER}/v1/identity/oidc/plugins`, subject: `${subject}:aws-sm/prod` });
    const now = Math.floor(mount.clock.millis() / 1_000);
    const said = { iss: rest.issuer, sub: rest.subject, aud: 'sts.amazonaws.com', iat: now, exp: now + 600, namespace: 'root' };
    expect(claimsOf(token)).toEqual(said);
    const discovery = await answered(mount, 'read', 'identity/oidc/plugins/.well-known/openid-configuration', {}, '');
    expect(discovery).toMatchObject({ issuer: rest.issuer, jwks_uri: `${rest.issuer}/.well-known/keys` });
    const keys = await keysAt(mount, 'plugins/');
    const key = keys.find((one) => (one as { kid?: string }).kid === keyIdOf(token))!;
    const [head, body, signature] = token.split('.');
    const check = { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', Buffer.from(`${head}.${body}`), check, Buffer.from(signature!, 'base64url'))).toBe(true);
    // Who trusts the issuer of users knows nothing of it, and nobody takes it for a token of a user.
    expect(await keysAt(mount, '')).toEqual([]);
    expect(await isActive(mount, token)).toBe(false);
  });

  test('signs with the default key, for no longer than the key can be verified', async () => {
    const { mount, identity } = await mounted();
    await answered(mount, 'update', 'identity/oidc/config', { issuer: ISSUER });
    expect((await identity.token({ audience: 'a', key: '', ttl: 1e9 })).ttl).toBe(86_400);
    expect(await keysAt(mount, 'plugins/')).toHaveLength(2);
  });

  test('has none for an unknown key, for nobody, and while the server knows no address of its own', async () => {
    const { mount, identity } = await mounted();
    await expect(identity.token({ audience: 'a', ttl: 60 })).rejects.toThrow('the server knows no address of its own: set api_addr');
    await expect(identity.claims()).rejects.toThrow('the server knows no address of its own');
    await answered(mount, 'update', 'identity/oidc/config', { issuer: ISSUER });
    await expect(identity.token({ audience: 'a', key: 'none', ttl: 60 })).rejects.toThrow('no named key found at "none"');
    await expect(identity.token({ audience: 'a', key: '__proto__', ttl: 60 })).rejects.toThrow('no named key found at "__proto__"');
    await expect(identity.token({ audience: '', ttl: 60 })).rejects.toThrow('the audience of an identity token must not be empty');
  });
});
