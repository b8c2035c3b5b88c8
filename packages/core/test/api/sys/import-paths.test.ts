import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

let mount: TestMount;
beforeEach(async () => {
  mount = await mountForTest(kvEngine);
});
afterEach(async () => mount.close());

const put = async (objects: Record<string, unknown>) =>
  mount.call('update', 'sys/import/cluster-1', { data: { address: 'http://there', objects } });
const compare = async (objects: Record<string, unknown>) =>
  ((await mount.call('update', 'sys/import/cluster-1/compare', { data: { objects } })).data as { objects: unknown }).objects;

describe('sys/import', () => {
  test('knows of each thing whether it is as it came, on both sides', async () => {
    expect((await put({ 'policy a': { source: A, target: B }, 'secret s/x y': { source: A, target: A } })).status).toBe(204);
    expect(
      await compare({ 'policy a': { source: A, target: A }, 'secret s/x y': { source: B, target: A }, other: { source: A, target: A } }),
    ).toEqual({ 'policy a': { source: true, target: false }, 'secret s/x y': { source: false, target: true } });
  });

  test('lists sources and names page by page, and forgets a source', async () => {
    await put(
      Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`secret ${String(n).padStart(3, '0')}`, { source: A, target: A }])),
    );
    expect((await mount.call('list', 'sys/import')).data).toEqual({ keys: ['cluster-1'] });
    expect((await mount.call('list', 'sys/import/cluster-1', { data: { after: 'secret 297', limit: 1 } })).data).toEqual({
      keys: ['secret 298'],
    });
    expect((await mount.call('read', 'sys/import/cluster-1')).data).toMatchObject({
      address: 'http://there',
      first_time: '2030-01-01T00:00:00.000Z',
    });
    expect((await mount.call('delete', 'sys/import/cluster-1')).status).toBe(204);
    expect((await mount.call('list', 'sys/import')).status).toBe(404);
    expect((await mount.call('list', 'sys/import/cluster-1')).status).toBe(404);
    expect(await compare({ 'secret 001': { source: A, target: A } })).toEqual({});
  });

  test('shows no digest, so that nobody can try values against it', async () => {
    await put({ 'policy a': { source: A, target: B } });
    const shown = [await mount.call('read', 'sys/import/cluster-1'), await mount.call('list', 'sys/import/cluster-1')];
    expect(JSON.stringify(shown)).not.toMatch(/[0-9a-f]{64}/);
  });

  test('takes names that are longer than a key of the store', async () => {
    const name = `secret ${'ü'.repeat(900)}`;
    await put({ [name]: { source: A, target: A } });
    expect(await compare({ [name]: { source: A, target: A }, [`${name}x`]: { source: A, target: A } })).toEqual({
      [name]: { source: true, target: true },
    });
  });

  test.each([
    [{ '': { source: A, target: A } }, 'must not be empty'],
    [{ x: { source: A } }, 'needs source and target'],
    [{ x: { source: 'password', target: A } }, 'needs source and target'],
    [{ x: 7 }, 'needs source and target'],
  ])('refuses %j', async (objects, text) => {
    const { status, errors } = await put(objects);
    expect(status).toBe(400);
    expect(errors?.join()).toContain(text);
    expect(errors?.join()).not.toContain('password');
  });

  test.each(['sys/import/cluster-1', 'sys/import/cluster-1/compare', 'identity/import/entity/x', 'identity/import/oidc/client/x'])(
    '%s needs sudo',
    async (path) => {
      await mount.call('update', 'sys/policies/acl/writer', { data: { policy: `path "${path}" { capabilities = ["create", "update"] }` } });
      const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } })).auth!.client_token;
      expect((await mount.call('update', path, { data: { objects: {}, name: 'x', client_id: 'x' }, token })).status).toBe(403);
    },
  );
});

describe('identity/import', () => {
  const write = async (path: string, data: Record<string, unknown>) => mount.call('update', `identity/import/${path}`, { data });
  const accessor = async () => ((await mount.call('read', 'sys/auth')).data as Record<string, { accessor: string }>)['token/']!.accessor;

  test('creates what another server has with the ids that it has there, and may be repeated', async () => {
    for (let time = 0; time < 2; time += 1) {
      expect((await write('entity/e-1', { name: 'ann', policies: ['a'], metadata: { k: 'v' }, disabled: true })).status).toBe(204);
      expect((await write('entity-alias/ea-1', { name: 'ann', mount_accessor: await accessor(), canonical_id: 'e-1' })).status).toBe(204);
      expect((await write('group/g-1', { name: 'inner', policies: ['b'], member_entity_ids: ['e-1'] })).status).toBe(204);
      expect((await write('group/g-2', { name: 'outer', type: 'external' })).status).toBe(204);
      expect((await write('group-alias/ga-1', { name: 'ops', mount_accessor: await accessor(), canonical_id: 'g-2' })).status).toBe(204);
      expect((await write('mfa/method/totp/m-1', { issuer: 'acme', method_name: 'phone' })).status).toBe(204);
      const client = { client_id: 'known-id', client_secret: 'known-secret-of-the-client', redirect_uris: ['https://a/cb'] };
      expect((await write('oidc/client/web', client)).status).toBe(204);
    }
    expect((await mount.call('read', 'identity/entity/id/e-1')).data).toMatchObject({
      name: 'ann',
      disabled: true,
      aliases: [{ id: 'ea-1' }],
      group_ids: ['g-1'],
    });
    expect((await mount.call('read', 'identity/group/id/g-2')).data).toMatchObject({
      type: 'external',
      alias: { id: 'ga-1', name: 'ops' },
    });
    expect((await mount.call('read', 'identity/mfa/method/m-1')).data).toMatchObject({ name: 'phone' });
    expect((await mount.call('read', 'identity/oidc/client/web')).data).toMatchObject({
      client_id: 'known-id',
      client_secret: 'known-secret-of-the-client',
    });
  });

  test('never takes a name, an alias or a client_id from somebody else', async () => {
    await write('entity/e-1', { name: 'ann' });
    await write('entity-alias/ea-1', { name: 'ann', mount_accessor: await accessor(), canonical_id: 'e-1' });
    await write('oidc/client/web', { client_id: 'known-id', client_secret: 'known-secret-of-the-client' });
    expect((await write('entity/e-2', { name: 'ANN' })).errors?.join()).toContain('already in use');
    expect(
      (await write('entity-alias/ea-2', { name: 'ann', mount_accessor: await accessor(), canonical_id: 'e-1' })).errors?.join(),
    ).toContain('ea-1');
    expect(
      (await write('oidc/client/other', { client_id: 'known-id', client_secret: 'known-secret-of-the-client' })).errors?.join(),
    ).toContain('"web"');
    expect((await write('oidc/client/other', { client_id: 'x', client_secret: 'short' })).errors?.join()).toContain('client_secret');
    expect((await write('entity-alias/ea-3', { name: 'bob', mount_accessor: 'none', canonical_id: 'e-1' })).status).toBe(400);
  });

  test('does not change what writes without import/ need: there an unknown id is refused', async () => {
    expect((await mount.call('update', 'identity/entity/id/e-9', { data: { name: 'x' } })).status).toBe(400);
    expect((await mount.call('update', 'identity/group/id/g-9', { data: { name: 'x' } })).status).toBe(400);
  });
});
