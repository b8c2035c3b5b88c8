import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { realDestinations, REAL_TYPES } from './real-types.ts';
import { checked, syncMount, type Data, type SyncMount } from './sync-mount.ts';

let sync: SyncMount;
beforeEach(async () => {
  sync = await syncMount({ plugins: realDestinations });
});
afterEach(async () => sync.close());

const refusal = async (path: string, body: Data, operation: 'update' | 'patch' = 'update'): Promise<string> => {
  const { status, errors } = await sync.ask(operation, path, body);
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
