import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core, CoreRequest, CoreResponse } from '../../../src/index.ts';

describe('cubbyhole', () => {
  let core: Core;
  const call = async (
    operation: CoreRequest['operation'],
    path: string,
    data: Record<string, unknown> = {},
    token = 'root',
  ): Promise<CoreResponse> => core.handle({ operation, path, data, token });
  const tokenOf = async (order: Record<string, unknown>): Promise<string> =>
    (await call('update', 'auth/token/create', order)).auth!.client_token;

  beforeEach(async () => {
    core = await checkedCore({ storage: memoryStorage(), devRootToken: 'root' });
  });
  afterEach(async () => core.close());

  test('keeps what a token writes, and lists it by folder', async () => {
    expect((await call('update', 'cubbyhole/a/b', { x: 1, y: { z: [null, true] } })).status).toBe(204);
    await call('update', 'cubbyhole/c', { path: 'a field of that name', limit: 'this one too' });
    expect((await call('read', 'cubbyhole/a/b')).data).toEqual({ x: 1, y: { z: [null, true] } });
    expect((await call('read', 'cubbyhole/c')).data).toEqual({ path: 'a field of that name', limit: 'this one too' });
    expect((await call('list', 'cubbyhole')).data).toEqual({ keys: ['a/', 'c'] });
    expect((await call('list', 'cubbyhole/a')).data).toEqual({ keys: ['b'] });
    expect((await call('delete', 'cubbyhole/a/b')).status).toBe(204);
    expect((await call('delete', 'cubbyhole/a/b')).status).toBe(204);
    const gone = await call('read', 'cubbyhole/a/b');
    expect([gone.status, gone.errors]).toEqual([404, []]);
    expect((await call('list', 'cubbyhole/a')).status).toBe(404);
  });

  test('lists everything below a folder', async () => {
    for (const path of ['a/b', 'a/c/d', 'e']) await call('update', `cubbyhole/${path}`, { x: 1 });
    expect((await call('scan', 'cubbyhole')).data).toEqual({ keys: ['a/b', 'a/c/d', 'e'] });
    expect((await call('scan', 'cubbyhole/a', { after: 'b', limit: '5' })).data).toEqual({ keys: ['c/d'] });
    expect((await call('scan', 'cubbyhole/e')).status).toBe(404);
    expect((await call('scan', 'cubbyhole', {}, await tokenOf({ policies: ['default'] }))).status).toBe(403);
  });

  test('takes nothing for a token that ends while it is written', async () => {
    const storage = memoryStorage();
    const own = await checkedCore({ storage, devRootToken: 'root' });
    const ask = async (operation: CoreRequest['operation'], path: string, data = {}, token = 'root'): Promise<CoreResponse> =>
      own.handle({ operation, path, data, token });
    const token = (await ask('update', 'auth/token/create', { policies: ['default'] })).auth!.client_token;
    const commit = storage.commit.bind(storage);
    storage.commit = async (change) => {
      if (!(change.put ?? []).some(({ key }) => key.startsWith('cubbyhole/'))) return commit(change);
      storage.commit = commit;
      expect((await ask('update', 'auth/token/revoke', { token })).status).toBe(204);
      return commit(change);
    };
    const late = await ask('update', 'cubbyhole/x', { kept: 'too long' }, token);
    expect([late.status, late.errors]).toEqual([403, ['permission denied']]);
    expect(await storage.range({ prefix: 'cubbyhole/', keysOnly: true })).toEqual([]);
    await own.close();
  });

  test('is each token its own, and goes with it', async () => {
    const one = await tokenOf({ policies: ['default'] });
    const two = await tokenOf({ policies: ['default'] });
    await call('update', 'cubbyhole/x', { of: 'one' }, one);
    expect((await call('read', 'cubbyhole/x', {}, two)).status).toBe(404);
    expect((await call('read', 'cubbyhole/x')).status).toBe(404);
    expect((await call('read', 'cubbyhole/x', {}, one)).data).toEqual({ of: 'one' });
    await call('update', 'auth/token/revoke', { token: one });
    expect((await call('read', 'cubbyhole/x', {}, one)).status).toBe(403);
  });

  test('asks for create where nothing is, for update where something is', async () => {
    await call('update', 'sys/policies/acl/once', { policy: 'path "cubbyhole/*" { capabilities = ["create", "read"] }' });
    const token = await tokenOf({ policies: ['once'], no_default_policy: true });
    expect((await call('update', 'cubbyhole/x', { a: 1 }, token)).status).toBe(204);
    expect((await call('update', 'cubbyhole/x', { a: 2 }, token)).status).toBe(403);
    expect((await call('read', 'cubbyhole/x', {}, token)).data).toEqual({ a: 1 });
  });

  test('refuses an empty write, and batch tokens', async () => {
    const empty = await call('update', 'cubbyhole/x');
    expect([empty.status, empty.errors]).toEqual([400, ['1 error occurred:\n\t* missing data fields\n\n']]);
    const batch = await tokenOf({ policies: ['default'], type: 'batch', ttl: '1h' });
    for (const [operation, data] of [
      ['read', {}],
      ['update', { a: 1 }],
      ['list', {}],
      ['delete', {}],
    ] as const) {
      const answer = await call(operation, 'cubbyhole/x', data, batch);
      expect([operation, answer.status, answer.errors]).toEqual([
        operation,
        400,
        ["cubbyhole operations are only supported by 'service' type tokens"],
      ]);
    }
  });

  test('lists a page at a time', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await call('update', `cubbyhole/${name}`, { x: 1 });
    expect((await call('list', 'cubbyhole', { limit: 2 })).data).toEqual({ keys: ['a', 'b'] });
    expect((await call('list', 'cubbyhole', { after: 'b', limit: '1' })).data).toEqual({ keys: ['c'] });
    expect((await call('list', 'cubbyhole', { limit: 'many' })).status).toBe(400);
  });

  test('keeps odd names apart', async () => {
    const names = ['__proto__', 'a b', 'ä', '\u{1F512}', 'x%2Fy', '.hidden', 'a//b'.replace('//', '/ /')];
    for (const name of names) expect((await call('update', `cubbyhole/${name}`, { name })).status).toBe(204);
    for (const name of names) expect((await call('read', `cubbyhole/${name}`)).data).toEqual({ name });
  });
});
