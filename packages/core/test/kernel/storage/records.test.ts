import { beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '@strongroom/engine-sdk';
import { memoryStorage } from '@strongroom/storage-sdk';
import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { Barrier } from '../../../src/kernel/barrier/barrier.ts';
import { CorruptRecord } from '../../../src/kernel/barrier/key-ring.ts';
import { Records, SingleRecord } from '../../../src/kernel/storage/records.ts';
import { Store } from '../../../src/kernel/storage/store.ts';

const Door = Type.Object({ name: Type.String(), last_error: Type.Optional(Type.String()) });
const DOORS = new Records('door/', Door, {
  upgrade: ({ lastError, ...stored }) => (lastError === undefined ? stored : { last_error: lastError, ...stored }),
});
const HOUSE = new SingleRecord('core/house', Type.Object({ street: Type.String() }));

let storage: ReturnType<typeof memoryStorage>;
let barrier: Barrier;
let store: Store;

beforeEach(async () => {
  storage = memoryStorage();
  barrier = new Barrier(storage, systemClock);
  const rootKey = randomBytes(32);
  await barrier.initialize(rootKey, []);
  await barrier.unseal(rootKey);
  store = new Store(storage, barrier);
});

/** As another process would see it: nothing is decoded yet. */
const fresh = (): Store => new Store(storage, barrier);

test('a record comes back as it was written, from the store and within a transaction', async () => {
  await store.transaction(async (tx) => {
    DOORS.put(tx, 'front', { name: 'Front' });
    expect(await DOORS.get(tx, 'front')).toEqual({ name: 'Front' });
  });
  expect(await DOORS.get(fresh(), 'front')).toEqual({ name: 'Front' });
  expect(await DOORS.get(store, 'back')).toBeUndefined();
});

test('a record that does not match its schema is a corrupt record that names its key and what is wrong', async () => {
  await store.transaction(async (tx) => tx.put('door/front', { name: 7 }));
  await expect(DOORS.get(store, 'front')).rejects.toThrow(CorruptRecord);
  await expect(DOORS.get(store, 'front')).rejects.toThrow(/door\/front.*at \/name must be string/);
  await expect(store.transaction(async (tx) => DOORS.get(tx, 'front'))).rejects.toThrow(CorruptRecord);
});

test('a field that an older version written otherwise is read under its name of today, and what is new is kept', async () => {
  await store.transaction(async (tx) => tx.put('door/front', { name: 'Front', lastError: 'jammed', added: 'later' }));
  expect(await DOORS.get(fresh(), 'front')).toEqual({ name: 'Front', last_error: 'jammed', added: 'later' });
  expect(await fresh().transaction(async (tx) => DOORS.get(tx, 'front'))).toMatchObject({ last_error: 'jammed' });
});

test('an index entry is no record, and is known as one', async () => {
  await store.transaction(async (tx) => {
    tx.mark('door/marked');
    expect(await DOORS.get(tx, 'marked')).toBeUndefined();
    expect(await tx.isMark(DOORS.key('marked'))).toBe(true);
  });
  expect(await DOORS.get(store, 'marked')).toBeUndefined();
  expect(await store.isMark(DOORS.key('marked'))).toBe(true);
  expect(await store.isMark(DOORS.key('none'))).toBe(false);
  await store.transaction(async (tx) => {
    expect(await DOORS.get(tx, 'marked')).toBeUndefined();
    expect(await tx.isMark(DOORS.key('marked'))).toBe(true);
  });
});

test('entries and pages go by id, leave index entries out, and hand what cannot be read to the listener', async () => {
  await store.transaction(async (tx) => {
    DOORS.put(tx, 'a', { name: 'A' });
    DOORS.put(tx, 'b/c', { name: 'C' });
    tx.mark('door/marked');
    tx.put('door/worn', { name: null });
  });
  const corrupt: string[] = [];
  const heard = (error: CorruptRecord): void => void corrupt.push(error.key);
  const all = [
    ['a', { name: 'A' }],
    ['b/c', { name: 'C' }],
  ];
  expect(await DOORS.entries(store, {}, heard)).toEqual(all);
  expect(await DOORS.entries(store, { after: 'a', prefix: 'b' })).toEqual([all[1]]);
  const pages = [];
  for await (const page of DOORS.pages(store, heard)) pages.push(...page);
  expect(pages).toEqual(all);
  expect(corrupt).toEqual(['door/worn', 'door/worn']);
  await expect(DOORS.entries(store)).rejects.toThrow(CorruptRecord);
});

test('a record is checked when it is decoded, and not again while the decoded copy is in use', async () => {
  let checks = 0;
  const counted = new Records('door/', Door, { upgrade: (stored) => ((checks += 1), stored) });
  await store.transaction(async (tx) => counted.put(tx, 'front', { name: 'Front' }));
  for (let i = 0; i < 3; i += 1) await counted.get(store, 'front');
  expect(checks).toBe(1);
  await store.transaction(async (tx) => counted.put(tx, 'front', { name: 'Other' }));
  expect(await counted.get(store, 'front')).toEqual({ name: 'Other' });
  expect(checks).toBe(2);
});

test('a single record has a key of its own', async () => {
  expect(await HOUSE.get(store)).toBeUndefined();
  await store.transaction(async (tx) => HOUSE.put(tx, { street: 'Long Lane' }));
  expect(await HOUSE.get(store)).toEqual({ street: 'Long Lane' });
  await store.transaction(async (tx) => tx.put('core/house', {}));
  await expect(HOUSE.get(store)).rejects.toThrow(/must have required propert/);
});
