import { afterEach, describe, expect, test } from '@jest/globals';
import { manualClock, MemoryView, mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import type { IdentityStore } from '../../../src/services/identity/identity-store.ts';
import { openOidc } from '../../../src/services/oidc/open-oidc.ts';
import type { Barrier } from '../../../src/kernel/barrier/barrier.ts';
import { passwordLogin } from '../../password-login.ts';
import { answered, identityToken, isActive, issuer, ISSUER, login } from './issuer.ts';

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
    for (const name of ['x'.repeat(5_000), 'a/b', 'k\0', '__proto__']) {
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

describe('the server itself', () => {
  const bare = () => {
    const view = new MemoryView();
    const nobody = { templateContext: async () => undefined, policiesOf: async () => undefined } as unknown as IdentityStore;
    return openOidc({ storage: () => view, identity: nobody, barrier: {} as Barrier, clock: manualClock(), apiAddress: `${ISSUER}/` });
  };

  test('signs tokens about itself, whose key is published from then on', async () => {
    const { tokens, keys } = bare();
    await keys.save('k', { algorithm: 'ES256' });
    expect((await keys.setOfRoles()).keys).toEqual([]);
    const order = { key: 'k', audience: 'sts.amazonaws.com', subject: 'mount:aws_1', claims: { mount: 'aws/' }, ttl: 600 };
    const { token, ttl } = await tokens.sign(order);
    expect([ttl, claimsOf(token)]).toEqual([
      600,
      expect.objectContaining({ iss: `${ISSUER}/v1/identity/oidc`, aud: 'sts.amazonaws.com', sub: 'mount:aws_1', mount: 'aws/' }),
    ]);
    expect((await keys.setOfRoles()).keys).toHaveLength(2);
    expect((await tokens.sign({ ...order, ttl: 1e9 })).ttl).toBe(86_400);
    await expect(tokens.sign({ ...order, claims: { sub: 'x' } })).rejects.toThrow('the claim "sub" is set by the server');
    await expect(tokens.sign({ ...order, key: 'none' })).rejects.toThrow('no named key found at "none"');
  });
});
