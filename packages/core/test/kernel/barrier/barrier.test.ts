import { beforeEach, describe, expect, test } from '@jest/globals';
import { checkedCore, manualClock, sharedMemory, type SharedMemory } from '@strongroom/engine-testkit';
import { Barrier } from '../../../src/kernel/barrier/barrier.ts';
import { CorruptRecord, KeyRing, UnknownTerm } from '../../../src/kernel/barrier/key-ring.ts';
import { Store } from '../../../src/kernel/storage/store.ts';

const rootKey = (): Buffer => Buffer.alloc(32, 9);
const text = (value: string): Buffer => Buffer.from(value);

describe('a key ring', () => {
  const ring = KeyRing.create(new Date(0));

  test('decrypts what it encrypted, under the same name only', () => {
    const sealed = ring.encrypt('a', text('secret'));
    expect(ring.decrypt('a', sealed).toString()).toBe('secret');
    expect(() => ring.decrypt('b', sealed)).toThrow(CorruptRecord);
    expect(sealed.includes('secret')).toBe(false);
  });

  test('never makes the same ciphertext twice', () => {
    const made = new Set(Array.from({ length: 2_000 }, () => ring.encrypt('a', text('x')).toString('hex')));
    expect(made.size).toBe(2_000);
  });

  test('notices every changed byte, and what was cut off', () => {
    const sealed = ring.encrypt('a', text('secret'));
    for (let i = 0; i < sealed.length; i += 1) {
      const damaged = Buffer.from(sealed);
      damaged[i]! ^= 1;
      expect(() => ring.decrypt('a', damaged)).toThrow(CorruptRecord);
    }
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => ring.decrypt('a', sealed.subarray(0, length))).toThrow(CorruptRecord);
  });

  test('reads old terms after it rotated, and a ring without the term says which one is missing', () => {
    const rotated = KeyRing.create(new Date(0));
    const before = rotated.encrypt('a', text('old'));
    const without = KeyRing.parse(rotated.toRecord());
    rotated.rotate(new Date(1));
    const after = rotated.encrypt('a', text('new'));
    expect([rotated.decrypt('a', before).toString(), rotated.decrypt('a', after).toString()]).toEqual(['old', 'new']);
    expect(() => without.decrypt('a', after)).toThrow(UnknownTerm);
    expect(() => without.decrypt('a', after)).toThrow('key term 2');
  });
});

describe('a barrier', () => {
  let store: SharedMemory;
  const open = async (): Promise<{ barrier: Barrier; store: Store }> => {
    const driver = store.open();
    const barrier = new Barrier(driver, manualClock());
    if (!(await barrier.initialized())) await barrier.initialize(rootKey(), []);
    await barrier.unseal(rootKey());
    return { barrier, store: new Store(driver, barrier) };
  };
  beforeEach(() => {
    store = sharedMemory();
  });

  test('opens with its root key alone, and forgets it when sealed', async () => {
    const { barrier } = await open();
    await expect(new Barrier(store.open(), manualClock()).unseal(Buffer.alloc(32, 8))).rejects.toThrow(CorruptRecord);
    barrier.seal();
    expect(() => barrier.ring).toThrow('Vault is sealed');
    expect(() => barrier.rootKey).toThrow('Vault is sealed');
  });

  test('what one process writes with a new key the others read, before they heard of it', async () => {
    const [a, b] = [await open(), await open()];
    await a.barrier.rotate();
    await a.store.transaction(async (tx) => tx.put('x', { value: 1 }));
    expect(await b.store.get('x')).toEqual({ value: 1 });
    expect(b.barrier.ring.term).toBe(2);
  });

  test('two processes that rotate at once make two terms, and both read both', async () => {
    const [a, b] = [await open(), await open()];
    await Promise.all([a.barrier.rotate(), b.barrier.rotate()]);
    await a.store.transaction(async (tx) => tx.put('a', 1));
    await b.store.transaction(async (tx) => tx.put('b', 2));
    expect([await b.store.get('a'), await a.store.get('b')]).toEqual([1, 2]);
    await a.barrier.reload();
    expect(a.barrier.ring.term).toBe(3);
  });

  test('counts encryptions across processes and restarts', async () => {
    const [a, b] = [await open(), await open()];
    for (const { store: each } of [a, b]) for (let i = 0; i < 5; i += 1) await each.transaction(async (tx) => tx.put(`k${i}`, i));
    await a.barrier.saveCount();
    await b.barrier.saveCount();
    expect((await open()).barrier.ring.encryptions).toBe(10);
    expect(b.barrier.ring.encryptions).toBe(10);
  });

  test('a changed root key seals a process that cannot find it', async () => {
    const [a, b] = [await open(), await open()];
    await a.barrier.replaceRootKey(Buffer.alloc(32, 3), []);
    await expect(b.barrier.reload()).rejects.toThrow('another root key');
    expect(b.barrier.sealed).toBe(true);
    expect(a.barrier.sealed).toBe(false);
  });
});

describe('servers on one store', () => {
  test('go on when one of them replaces the root key or rotates the barrier key', async () => {
    const shared = sharedMemory();
    const seal = { type: 'static' as const, key: Buffer.alloc(32, 1) };
    const first = await checkedCore({ storage: shared.open(), seal });
    const { rootToken } = await first.initialize({
      secretShares: undefined,
      secretThreshold: undefined,
      recoveryShares: 1,
      recoveryThreshold: 1,
    });
    const second = await checkedCore({ storage: shared.open(), seal });
    const call = async (path: string, data: Record<string, unknown> = {}) =>
      first.handle({ operation: 'update', path, data, token: rootToken });
    expect((await call('sys/rotate')).status).toBe(204);
    expect((await call('sys/rotate/root')).status).toBe(204);
    await new Promise((resolve) => setImmediate(resolve));
    expect((await second.handle({ operation: 'read', path: 'sys/mounts', token: rootToken })).status).toBe(200);
    expect(second.sealed).toBe(false);
    await first.close();
    await second.close();
  });
});
