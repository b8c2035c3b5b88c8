import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { realDestinations, REAL_TYPES } from './real-types.ts';
import { checked, CONNECTION, syncMount, type Data, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';

let sync: SyncMount;
/** May write every destination and account, and has sudo on none. */
let operator: string;
beforeEach(async () => {
  sync = await syncMount({ plugins: realDestinations });
  const policy = 'path "sys/sync/*" { capabilities = ["create", "read", "update", "patch"] }';
  await checked(sync.ask('update', 'sys/policies/acl/operator', { policy }));
  operator = (await checked(sync.ask('update', 'auth/token/create', { policies: ['operator'] }))).auth!.client_token;
});
afterEach(async () => sync.close());

const refusal = async (path: string, body: Data, operation: 'update' | 'patch' = 'update'): Promise<string> => {
  const { status, errors } = await sync.ask(operation, path, body, operator);
  expect(status).toBe(400);
  return errors!.join();
};

describe('"*****" where nothing is stored to keep is a 400 that names the field, and makes nothing', () => {
  test.each([
    ['aws-sm', { access_key_id: '*****', secret_access_key: '*****', region: 'eu-central-1' }, ['access_key_id', 'secret_access_key']],
    ['azure-kv', { client_secret: '*****' }, ['client_secret']],
    ['gcp-sm', { credentials: '*****' }, ['credentials']],
    ['gh', { access_token: '*****' }, ['access_token']],
    ['vercel-project', { access_token: '*****' }, ['access_token']],
  ])('%s: %j', async (type, body, fields) => {
    const at = `sys/sync/destinations/${type}/new`;
    const text = await refusal(at, { ...REAL_TYPES.find((real) => real.type === type)!.body, ...body });
    expect(text).toBe(`${fields.join(', ')}: "*****" keeps what is stored, and nothing is stored: send the value itself, or leave it out`);
    expect((await sync.ask('read', at)).status).toBe(404);
  });

  test('also of a destination that exists without it', async () => {
    const at = 'sys/sync/destinations/aws-sm/chain';
    await checked(sync.ask('update', at, { region: 'eu-central-1' }));
    expect(await refusal(at, { secret_access_key: '*****' }, 'patch')).toContain('secret_access_key: "*****" keeps what is stored');
  });

  test('of an account', async () => {
    const at = 'sys/sync/memory-accounts/new';
    expect(await refusal(at, { owner: 'me', private_key: '*****' })).toContain('private_key: "*****" keeps what is stored');
    expect((await sync.ask('read', at)).status).toBe(404);
  });
});

describe('a stored secret goes to no address that somebody else writes', () => {
  const gh = 'sys/sync/destinations/gh/prod';
  const evil = 'https://evil.example';
  const made = async (): Promise<void> =>
    void (await checked(sync.ask('update', gh, { access_token: 'github_pat_1', repository_owner: 'acme', repository_name: 'shop' })));

  test.each([{}, { access_token: '*****' }])('PATCH of enterprise_url with %j is a 400 that names the secret', async (rest) => {
    await made();
    const before = (await sync.ask('read', gh)).data;
    for (const operation of ['patch', 'update'] as const) {
      expect(await refusal(gh, { enterprise_url: evil, ...rest }, operation)).toContain(
        'enterprise_url: a new value sends the stored access_token to another address; send access_token again',
      );
    }
    expect((await sync.ask('read', gh)).data).toEqual(before);
  });

  test('with the secret itself it is changed, and so it is taken away', async () => {
    await made();
    const sent = { enterprise_url: 'https://github.acme.example', access_token: 'github_pat_1' };
    expect((await checked(sync.ask('patch', gh, sent))).data).toMatchObject({
      connection_details: { enterprise_url: sent.enterprise_url },
    });
    expect(await refusal(gh, { enterprise_url: '' }, 'patch')).toContain('enterprise_url: a new value sends the stored access_token');
    await checked(sync.ask('patch', gh, { enterprise_url: '', access_token: 'github_pat_2' }));
  });

  test('an address sent back as it stands, or without a stored secret, needs nothing', async () => {
    await checked(sync.ask('patch', ONE, { endpoint: 'http://127.0.0.1:8200', place: 'elsewhere' }, operator));
    const chain = 'sys/sync/destinations/aws-sm/chain';
    await checked(sync.ask('update', chain, { region: 'eu-central-1' }));
    await checked(sync.ask('patch', chain, { sts_endpoint: 'https://sts.eu-central-1.amazonaws.com' }));
  });

  test.each(['endpoint', 'sts_endpoint'])('aws-sm: %s needs both keys again', async (field) => {
    const at = 'sys/sync/destinations/aws-sm/prod';
    await checked(sync.ask('update', at, REAL_TYPES[0]!.body));
    const text = await refusal(at, { [field]: evil, access_key_id: 'AKIAIOSFODNN7EXAMPLE' }, 'patch');
    expect(text).toContain(`${field}: a new value sends the stored secret_access_key to another address`);
    await checked(sync.ask('patch', at, { ...REAL_TYPES[0]!.body, [field]: evil }));
  });

  test('with sudo on the path nothing has to be sent again', async () => {
    await made();
    const policy = `path "${gh}" { capabilities = ["update", "patch", "sudo"] }`;
    await checked(sync.ask('update', 'sys/policies/acl/mover', { policy }));
    const mover = (await checked(sync.ask('update', 'auth/token/create', { policies: ['mover'] }))).auth!.client_token;
    const moved = await checked(sync.ask('patch', gh, { enterprise_url: 'https://github.acme.example' }, mover));
    expect(moved.data).toMatchObject({ connection_details: { enterprise_url: 'https://github.acme.example', access_token: '*****' } });
  });

  test('an account that somebody else stored logs in at no address that a caller without sudo chooses', async () => {
    await checked(sync.ask('update', 'sys/sync/memory-accounts/shared', { owner: 'me', private_key: 'PEM' }));
    const at = 'sys/sync/destinations/memory/new';
    const sent = { access_token: 'own-token', account: 'shared' };
    const refused = 'endpoint: "shared" of sys/sync/memory-accounts would log in at this address';
    expect(await refusal(at, { ...sent, endpoint: evil })).toContain(refused);
    await checked(sync.ask('update', at, sent, operator));
    expect(await refusal(at, { ...sent, endpoint: evil }, 'patch')).toContain(refused);
    await checked(sync.ask('patch', at, { ...sent, endpoint: 'https://memory.acme.example' }));
    await checked(sync.ask('patch', at, { custom_tags: { a: 'b' } }, operator));
  });

  test('the memory, whose address is a default', async () => {
    expect(await refusal(ONE, { endpoint: evil, access_token: '*****' }, 'patch')).toContain(
      'endpoint: a new value sends the stored access_token to another address',
    );
    await checked(sync.ask('patch', ONE, { ...CONNECTION, endpoint: 'http://127.0.0.1:8300' }));
  });
});
