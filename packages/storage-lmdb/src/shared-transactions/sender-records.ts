import { writeChange } from '../change-writer.ts';
import type { Environment } from '../environment.ts';
import type { Database } from '../open-file.ts';
import { OWNER, ownerRuns } from '../store-folder.ts';
import type { Batch, Results, SentChange } from './batch.ts';

const PREFIX = '\0sender/';
const EMPTY = Buffer.alloc(0);

/**
 * What the store knows about one process that sends its changes to the writer:
 *
 * - `\0sender/<sender>`: its epoch, as the version. The writer applies a batch only in the epoch in which it was sent.
 * - `\0sender/<sender>/<slot>`: the version of the last change with that slot that was made. It is put in the transaction of the change.
 *
 * When the writer has gone, or does not answer, the sender begins another epoch. From then on each of its changes has been made, or never will be, and the slots tell which.
 */
export class SenderRecords {
  readonly #environment: Environment;
  readonly #sender: number;

  constructor(environment: Environment, sender: number) {
    this.#environment = environment;
    this.#sender = sender;
  }

  /** Begins an epoch; `after`: only if this one is in the store. Resolves with whether it has begun. @throws StorageFailure */
  async beginEpoch(epoch: number, after?: number): Promise<boolean> {
    const key = epochKey(this.#sender);
    return this.#environment.writing((db) => {
      const put = (): void => void db.put(key, Buffer.from(OWNER), epoch);
      if (after !== undefined) return db.ifVersion(key, after, put);
      put();
      return true;
    });
  }

  /** Whether the change was made. Only what is found after its epoch has ended is final. */
  has({ slot, version }: SentChange): boolean {
    const { db } = this.#environment;
    db.resetReadTxn();
    return db.getEntry(slotKey(this.#sender, slot))?.version === version;
  }

  async remove(): Promise<void> {
    this.#environment.db.resetReadTxn();
    await this.#environment.writing((db) => removeRecords(db, this.#sender));
  }
}

/**
 * Hands a batch to LMDB. Resolves with undefined, and nothing is written, if the epoch of its sender is another.
 *
 * Each change has the epoch as a condition of its own. One condition around all of them would not do: where it does not hold, lmdb 3.5.6 goes on with what stands in the same
 * block behind a nested condition that a key must not exist.
 */
export async function writeBatch(db: Database, { sender, epoch, changes }: Batch): Promise<Results | undefined> {
  const inEpoch = { key: epochKey(sender), version: epoch };
  const failed = changes.map(async ({ change, version, slot }) => {
    const expected = { ...change, expect: [inEpoch, ...(change.expect ?? [])] };
    return writeChange(db, expected, version, () => void db.put(slotKey(sender, slot), EMPTY, version));
  });
  const keys = await Promise.all(failed);
  return keys.includes(inEpoch.key) ? undefined : keys.map((key) => key ?? null);
}

/** Removes what is kept about senders whose process has ended. */
export async function removeUnusedRecords(environment: Environment): Promise<void> {
  const { db } = environment;
  db.resetReadTxn();
  const unused: number[] = [];
  for (const { key, value } of db.getRange({ start: PREFIX, end: `${PREFIX}:` })) {
    const name = String(key).slice(PREFIX.length);
    if (/^\d+$/.test(name) && !ownerRuns(Buffer.from(value).toString())) unused.push(Number(name));
  }
  if (unused.length === 0) return;
  await environment.writing((file) => {
    for (const sender of unused) removeRecords(file, sender);
  });
}

function removeRecords(db: Database, sender: number): void {
  const key = epochKey(sender);
  for (const slot of db.getKeys({ start: `${key}/`, end: `${key}0` })) void db.remove(slot);
  void db.remove(key);
}

function epochKey(sender: number): string {
  return `${PREFIX}${sender}`;
}

function slotKey(sender: number, slot: number): string {
  return `${PREFIX}${sender}/${slot}`;
}
