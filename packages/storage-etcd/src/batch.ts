import type { Change } from '@strongroom/storage-sdk';
import type { History } from './history.ts';
import type { Layout } from './layout.ts';
import { firstOf, get, isAt, put, remove, type Op, type TxnResponse } from './wire.ts';

/** What a change comes to in the operations of a transaction. */
export interface Weight {
  /** The longest of its lists: etcd counts that one. */
  readonly ops: number;
  readonly bytes: number;
}

/** Of each key in an operation: its own bytes, the prefix, and what the message adds. */
const KEY_BYTES = 64;

export function weightOf({ expect = [], put: puts = [], delete: deletes = [], notify = [] }: Change): Weight {
  let bytes = KEY_BYTES * (expect.length * 2 + puts.length + deletes.length + 1);
  for (const { key } of expect) bytes += 2 * key.length;
  for (const { key, value } of puts) bytes += key.length + value.length;
  for (const key of deletes) bytes += key.length;
  for (const key of notify) bytes += key.length + 4;
  return { ops: Math.max(expect.length, puts.length + deletes.length + (notify.length > 0 ? 1 : 0)), bytes };
}

/** The keys of changes that are to share a transaction: none may write what another one reads or writes. */
export class TouchedKeys {
  readonly #read = new Set<string>();
  readonly #written = new Set<string>();

  /** Whether the change goes together with those added so far. */
  takes({ expect = [], put: puts = [], delete: deletes = [] }: Change): boolean {
    const written = (key: string): boolean => this.#written.has(key);
    const touched = (key: string): boolean => written(key) || this.#read.has(key);
    return !expect.some(({ key }) => written(key)) && !puts.some(({ key }) => touched(key)) && !deletes.some(touched);
  }

  add({ expect = [], put: puts = [], delete: deletes = [] }: Change): void {
    for (const { key } of expect) this.#read.add(key);
    for (const { key } of puts) this.#written.add(key);
    for (const key of deletes) this.#written.add(key);
  }
}

/** The change as a transaction within another one. Where an expectation does not hold, it reads what was expected. */
export function nestedTxn(change: Change, slot: number, origin: string, history: History, layout: Layout): Op {
  const { generation } = history.state;
  const expected = change.expect ?? [];
  const puts = new Map((change.put ?? []).map(({ key, value }) => [key, value]));
  const deletes = new Set(change.delete ?? []);
  const success: Op[] = [];
  for (const key of deletes) if (!puts.has(key)) success.push(remove(layout.entry(generation, key)));
  for (const [key, value] of puts) success.push(put(layout.entry(generation, key), value));
  if (change.notify?.length) success.push(put(layout.notification(origin, slot), Buffer.from(JSON.stringify(change.notify))));
  return {
    request_txn: {
      compare: expected.map(({ key, version }) => isAt(layout.entry(generation, key), history.revisionOf(version))),
      success,
      failure: expected.map(({ key }) => get(layout.entry(generation, key), { keys_only: true })),
    },
  };
}

/** The key that was not as expected; undefined where the change took effect. */
export function conflictOf(change: Change, outcome: Omit<TxnResponse, 'header'> | undefined, history: History): string | undefined {
  if (outcome?.succeeded === true) return undefined;
  const found = (outcome?.responses ?? []).map((response) => Number(firstOf(response)?.mod_revision ?? 0));
  return brokenExpectation(change, found, history) ?? change.expect?.[0]?.key ?? '';
}

/** The first expected key that is at another revision than expected; `found` has the revisions in the order of the expectations. */
export function brokenExpectation({ expect = [] }: Change, found: readonly number[], history: History): string | undefined {
  return expect.find(({ version }, i) => history.revisionOf(version) !== (found[i] ?? 0))?.key;
}
