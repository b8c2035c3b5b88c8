import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import { createHttpServer } from '@strongroom/http';
import { kvEngine } from '@strongroom/kv';
import { readSnapshot } from '@strongroom/snapshot-file';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { EVERYTHING, memoryStorage, StorageFailure, type ChangedKeys, type StorageDriver } from '@strongroom/storage-sdk';
import { scratchFolder } from './scratch.ts';

jest.setTimeout(120_000);

const SNAPSHOT = 'sys/storage/raft/snapshot';
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly body: { data: Record<string, unknown> | null; errors?: string[]; warnings?: string[] | null; [other: string]: unknown };
}

/** A server over a storage, unsealed with the key if there is one already. */
async function serve(storage: StorageDriver, known?: { key: string; token: string }) {
  const core = await checkedCore({ storage, plugins: [kvEngine] });
  const server = createHttpServer(core, { headersTimeout: 1_000, requestTimeout: 2_000, timeoutCheckInterval: 100 }) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ends.push(async () => {
    await core.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  let token = known?.token ?? '';
  const call = async (method: string, path: string, body?: unknown, as = token): Promise<Answer> => {
    const sent = body === undefined ? undefined : body instanceof Uint8Array ? body : JSON.stringify(body);
    const answer = await fetch(`${address}/v1/${path}`, {
      method,
      headers: { 'X-Vault-Token': as },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const isJson = answer.headers.get('content-type') === 'application/json' && bytes.length > 0;
    return {
      status: answer.status,
      headers: answer.headers,
      bytes,
      body: isJson ? (JSON.parse(bytes.toString()) as Answer['body']) : { data: null },
    };
  };
  let key = known?.key ?? '';
  if (!known) {
    const made = await call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 });
    key = (made.body['keys'] as string[])[0]!;
    token = String(made.body['root_token']);
  }
  await call('PUT', 'sys/unseal', { key });
  const put = async (path: string, value: string): Promise<number> => (await call('PUT', `kv/${path}`, { value })).status;
  const get = async (path: string): Promise<unknown> => (await call('GET', `kv/${path}`)).body.data?.['value'];
  return { core, address, call, put, get, key, token };
}

async function lmdb(folder = scratchFolder()): Promise<StorageDriver> {
  return lmdbStorage({ path: folder });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

describe('a snapshot', () => {
  test('holds what was stored, and a restore brings exactly that back: secrets, mounts, policies, tokens and leases', async () => {
    const server = await serve(await lmdb());
    const { call, put, get } = server;
    await call('POST', 'sys/mounts/kv', { type: 'kv' });
    await call('PUT', 'sys/policies/acl/reader', { policy: 'path "kv/*" { capabilities = ["read"] }' });
    for (let i = 0; i < 50; i++) expect(await put(`k${i}`, `value ${i}`)).toBe(204);
    const child = (await call('POST', 'auth/token/create', { policies: ['reader'], ttl: '1h' })).body['auth'] as { client_token: string };
    const taken = await call('GET', SNAPSHOT);
    expect(taken.status).toBe(200);
    expect(taken.headers.get('content-type')).toBe('application/gzip');
    expect(taken.headers.get('content-disposition')).toBe('attachment');
    expect(taken.headers.get('content-length')).toBeNull();
    const { meta } = await readSnapshot(once(taken.bytes));
    expect(meta).toMatchObject({ Version: 1, Format: 'strongroom-1', Storage: 'lmdb', Term: 1 });
    expect(gunzipSync(taken.bytes).includes('value 1')).toBe(false);

    await put('k0', 'changed');
    await put('later', 'gone');
    await call('DELETE', 'kv/k1');
    await call('DELETE', 'sys/policies/acl/reader');
    const later = (await call('POST', 'auth/token/create', { policies: ['root'] })).body['auth'] as { client_token: string };
    const restored = await call('POST', SNAPSHOT, taken.bytes);
    expect([restored.status, restored.body.errors]).toEqual([200, undefined]);
    expect(restored.body.data).toMatchObject({ id: meta.ID, created_at: meta.CreatedAt, entries: meta.Entries, sealed: false });
    expect(restored.body.warnings?.[0]).toMatch(/^the store is as it was at 2.*: tokens, leases and secrets that are newer are not in it$/);
    expect((await call('GET', 'sys/seal-status')).body).toMatchObject({ sealed: false });
    for (let i = 0; i < 50; i++) expect(await get(`k${i}`)).toBe(`value ${i}`);
    expect((await call('GET', 'kv/later')).status).toBe(404);
    expect((await call('GET', 'kv/k3', undefined, child.client_token)).body.data).toEqual({ value: 'value 3' });
    expect((await call('GET', 'kv/k3', undefined, later.client_token)).status).toBe(403);
    expect(await put('after', 'written')).toBe(204);
    const again = await call('GET', SNAPSHOT);
    expect((await readSnapshot(once(again.bytes))).meta.Entries).toBeGreaterThan(meta.Entries - 10);
  });

  test('of LMDB is restored into another kind of storage with -force, and there unsealed with its own keys', async () => {
    const from = await serve(await lmdb());
    await from.call('POST', 'sys/mounts/kv', { type: 'kv' });
    await from.put('a', 'carried');
    const { bytes } = await from.call('GET', SNAPSHOT);
    const to = await serve(memoryStorage());
    const refused = await to.call('POST', SNAPSHOT, bytes);
    expect(refused.status).toBe(400);
    expect(refused.body.errors?.[0]).toMatch(/the snapshot is of another cluster, .*restore it with snapshot-force/);
    expect((await to.call('GET', 'sys/seal-status')).body).toMatchObject({ sealed: false });
    const forced = await to.call('POST', `${SNAPSHOT}-force`, bytes);
    expect(forced.status).toBe(200);
    expect(forced.body.warnings?.[0]).toBe('the server is sealed: unseal it with the keys of the time of the snapshot');
    expect((await to.call('PUT', 'sys/unseal', { key: to.key })).status).toBe(400);
    expect((await to.call('PUT', 'sys/unseal', { key: from.key })).body).toMatchObject({ sealed: false });
    expect((await to.call('GET', 'kv/a', undefined, from.token)).body.data).toEqual({ value: 'carried' });
  });

  test('that is damaged, cut off, foreign or none is refused, and nothing is changed', async () => {
    const { call, put, get } = await serve(await lmdb());
    await call('POST', 'sys/mounts/kv', { type: 'kv' });
    await put('a', 'kept');
    const { bytes } = await call('GET', SNAPSHOT);
    const plain = gunzipSync(bytes);
    const flipped = Buffer.from(plain);
    flipped[plain.length >> 1]! ^= 1;
    const foreign = Buffer.from(plain);
    const sealed = foreign.lastIndexOf('SHA256SUMS.sealed') + 512;
    randomBytes(40).copy(foreign, sealed);
    const text = '1 error occurred:\n\t* failed to decompress snapshot: unexpected EOF\n\n';
    for (const [given, error] of [
      [Buffer.from('{}'), text],
      [Buffer.alloc(0), text],
      [bytes.subarray(0, bytes.length - 9), /unexpected EOF/],
      [gzipSync(flipped), /damaged|checksum/],
      [gzipSync(foreign), /sealed with keys that this server does not have/],
      [gzipSync(plain.subarray(0, 2_000)), /failed to read snapshot/],
    ] as const) {
      for (const path of error instanceof RegExp && String(error).includes('sealed') ? [SNAPSHOT] : [SNAPSHOT, `${SNAPSHOT}-force`]) {
        const answer = await call('POST', path, given);
        expect([path, answer.status]).toEqual([path, 400]);
        if (typeof error === 'string') expect(answer.body.errors).toEqual([error]);
        else expect(answer.body.errors?.[0]).toMatch(error);
      }
    }
    expect(await get('a')).toBe('kept');
    expect((await call('GET', 'sys/seal-status')).body).toMatchObject({ sealed: false });
  });

  test('needs read on its path, and a restore update', async () => {
    const { call } = await serve(memoryStorage());
    await call('PUT', 'sys/policies/acl/backup', { policy: `path "${SNAPSHOT}" { capabilities = ["read"] }` });
    const { client_token: backup } = (await call('POST', 'auth/token/create', { policies: ['backup'] })).body['auth'] as {
      client_token: string;
    };
    const { status, bytes } = await call('GET', SNAPSHOT, undefined, backup);
    expect(status).toBe(200);
    expect((await call('POST', SNAPSHOT, bytes, backup)).status).toBe(403);
    expect((await call('POST', `${SNAPSHOT}-force`, bytes, backup)).status).toBe(403);
    expect((await call('GET', SNAPSHOT, undefined, '')).status).toBe(403);
    const unsupported = await call('GET', `${SNAPSHOT}-force`);
    expect([unsupported.status, unsupported.body.errors]).toEqual([405, ['1 error occurred:\n\t* unsupported operation\n\n']]);
  });

  test('is taken one at a time, and one that its caller leaves makes room for the next', async () => {
    const folder = scratchFolder();
    const { call, put, address, token } = await serve(await lmdb(folder));
    await call('POST', 'sys/mounts/kv', { type: 'kv' });
    for (let i = 0; i < 40; i++) await put(`k${i}`, randomBytes(200_000).toString('hex'));
    const first = request(`${address}/v1/${SNAPSHOT}`, { headers: { 'X-Vault-Token': token } });
    await new Promise<void>((resolve) => first.on('response', (answer) => answer.once('readable', () => resolve())).end());
    const second = await call('GET', SNAPSHOT);
    expect([second.status, second.body.errors]).toEqual([
      409,
      ['a snapshot is being taken or restored on this server; try again when it is done'],
    ]);
    expect(readdirSync(folder).filter((name) => name.startsWith('copy-'))).toHaveLength(1);
    first.destroy();
    for (let tries = 0; (await call('GET', SNAPSHOT)).status === 409; tries++) expect(tries).toBeLessThan(200);
    expect(readdirSync(folder).filter((name) => name.startsWith('copy-'))).toEqual([]);
  });

  test('that was asked for as a wrapped answer is refused, and makes room at once', async () => {
    const folder = scratchFolder();
    const { call, address, token } = await serve(await lmdb(folder));
    const headers = { 'X-Vault-Token': token, 'X-Vault-Wrap-TTL': '60' };
    for (let round = 0; round < 2; round++) {
      const answer = await fetch(`${address}/v1/${SNAPSHOT}`, { headers });
      expect([answer.status, await answer.json()]).toEqual([400, { errors: ['this response is a stream, which cannot be wrapped'] }]);
    }
    expect((await call('GET', SNAPSHOT)).status).toBe(200);
    expect(readdirSync(folder).filter((name) => name.startsWith('copy-'))).toEqual([]);
  });

  test('may take longer to arrive than other requests, and one whose caller leaves changes nothing', async () => {
    const folder = scratchFolder();
    const { call, put, get, address, token } = await serve(await lmdb(folder));
    await call('POST', 'sys/mounts/kv', { type: 'kv' });
    await put('a', 'then');
    const { bytes } = await call('GET', SNAPSHOT);
    await put('a', 'now');
    const left = request(`${address}/v1/${SNAPSHOT}`, { method: 'POST', headers: { 'X-Vault-Token': token } });
    left.on('error', () => undefined);
    left.write(bytes.subarray(0, bytes.length >> 1));
    while (!readdirSync(folder).some((name) => name.startsWith('store-'))) await call('GET', 'sys/health');
    left.destroy();
    for (let tries = 0; ; tries++) {
      const { status } = await call('GET', SNAPSHOT);
      if (status !== 409) break;
      expect(tries).toBeLessThan(200);
    }
    expect(await get('a')).toBe('now');
    expect(readdirSync(folder).filter((name) => name.startsWith('store-'))).toEqual([]);
    // Longer than the 2 s that a request may take to arrive here.
    const slow = request(`${address}/v1/${SNAPSHOT}`, { method: 'POST', headers: { 'X-Vault-Token': token } });
    const answered = new Promise<number>((resolve, reject) =>
      slow.on('response', (answer) => resolve(answer.statusCode!)).on('error', reject),
    );
    for (let part = 0; part < 4; part++) {
      slow.write(bytes.subarray((bytes.length * part) >> 2, (bytes.length * (part + 1)) >> 2));
      // The limit that must not hold is kept by Node's own clock.
      // eslint-disable-next-line no-restricted-syntax
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
    slow.end();
    expect(await answered).toBe(200);
    expect(await get('a')).toBe('then');
  });

  test('of a storage that cannot be copied is refused by that name', async () => {
    const whole = memoryStorage();
    const plain: StorageDriver = {
      ...{ name: 'other', shared: false, get: async (key) => whole.get(key), range: async (query) => whole.range(query) },
      ...{ commit: async (change) => whole.commit(change), changes: () => () => undefined, staleness: () => ({ millis: 0 }) },
      close: async () => whole.close(),
    };
    const { call } = await serve(plain);
    const text = 'the storage other has no snapshots: back it up with its own means';
    for (const answer of [await call('GET', SNAPSHOT), await call('POST', SNAPSHOT, Buffer.from('x'))]) {
      expect([answer.status, answer.body.errors]).toEqual([501, [text]]);
    }
  });

  test('that has no room is a 507 that says so, and makes room for the next', async () => {
    const whole = memoryStorage();
    const full = (): Promise<never> => Promise.reject(new StorageFailure('lmdb', 'a copy of the store needs up to 9 MiB', { full: true }));
    let room = false;
    const copy = async () => (room ? whole.copy!() : full());
    const { call } = await serve(Object.assign(Object.create(whole) as StorageDriver, { copy, replace: full }));
    const text = '1 error occurred:\n\t* storage lmdb: a copy of the store needs up to 9 MiB\n\n';
    const taken = await call('GET', SNAPSHOT);
    expect([taken.status, taken.body.errors]).toEqual([507, [text]]);
    expect((await call('POST', SNAPSHOT, Buffer.from('x'))).status).toBe(507);
    room = true;
    expect((await call('GET', SNAPSHOT)).status).toBe(200);
  });

  test('and its restore are audited like every other call, without their content', async () => {
    const file = join(scratchFolder(), 'audit.log');
    const { call } = await serve(await lmdb());
    expect((await call('PUT', 'sys/audit/file', { type: 'file', options: { file_path: file } })).status).toBe(204);
    const { bytes } = await call('GET', SNAPSHOT);
    expect((await call('POST', SNAPSHOT, bytes)).status).toBe(200);
    expect((await call('POST', SNAPSHOT, Buffer.from('no snapshot'))).status).toBe(400);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    type Line = { type: string; request: { operation: string; path: string; data?: unknown }; response?: { data?: { error?: string } } };
    const entries = lines.map((line) => JSON.parse(line) as Line).filter(({ request }) => request.path === SNAPSHOT);
    expect(entries.map(({ type, request }) => `${type} ${request.operation}`)).toEqual([
      ...['request read', 'response read'],
      ...['request update', 'response update'],
      ...['request update', 'response update'],
    ]);
    expect(entries.map(({ response }) => response?.data?.error !== undefined)).toEqual([false, false, false, false, false, true]);
    expect(entries.every(({ request }) => request.data === undefined)).toBe(true);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(3_000);
  });

  test('that is restored is answered as such, although the server hears meanwhile that everything has changed', async () => {
    const whole = memoryStorage();
    let hear: (changed: ChangedKeys) => void = () => undefined;
    const { call } = await serve(
      Object.assign(Object.create(whole) as StorageDriver, {
        changes: (listener: typeof hear) => whole.changes((hear = listener)),
        replace: async () => {
          const next = await whole.replace!();
          const discard = async (): Promise<void> => {
            hear(EVERYTHING);
            await next.discard();
          };
          return Object.assign(Object.create(next) as typeof next, { discard });
        },
      }),
    );
    const { bytes } = await call('GET', SNAPSHOT);
    const restored = await call('POST', SNAPSHOT, bytes);
    expect([restored.status, restored.body.errors]).toEqual([200, undefined]);
  });

  test('that is restored reaches every server of the store', async () => {
    const folder = scratchFolder();
    const one = await serve(await lmdb(folder));
    const two = await serve(await lmdb(folder), { key: one.key, token: one.token });
    await one.call('POST', 'sys/mounts/kv', { type: 'kv' });
    await one.put('a', 'then');
    const { bytes } = await one.call('GET', SNAPSHOT);
    await one.call('POST', 'sys/mounts/other', { type: 'kv' });
    await two.put('a', 'now');
    expect((await two.call('POST', SNAPSHOT, bytes)).status).toBe(200);
    for (let tries = 0; ; tries++) {
      const { status } = await one.call('GET', 'kv/a');
      if (status === 200 && (await one.get('a')) === 'then') break;
      expect(tries).toBeLessThan(5_000);
    }
    expect((await one.call('GET', 'other/a')).status).toBe(404);
    expect(await one.put('by/one', '1')).toBe(204);
    expect(await two.get('by/one')).toBe('1');
    expect(readdirSync(folder)).toContain('CURRENT');
    expect(readdirSync(folder)).not.toContain('data.mdb');
  });
});
