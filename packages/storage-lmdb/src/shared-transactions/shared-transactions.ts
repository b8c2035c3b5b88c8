import { StorageFailure, type Change, type StorageLog } from '@strongroom/storage-sdk';
import type { Environment } from '../environment.ts';
import { NAME } from '../failure.ts';
import type { Batch, Outcome, SentChange } from './batch.ts';
import { removeUnusedRecords, SenderRecords } from './sender-records.ts';
import { WriterConnection } from './writer-connection.ts';
import { reasonAgainstMeeting, WriterServer, writerSocketIn } from './writer-server.ts';

const PATIENCE_MS = 1_000;
/** Milliseconds between two looks for a writer, where something is to be written, and where nothing is. */
const LOOK_MS = 100;
const IDLE_LOOK_MS = 1_000;
/** Bytes of values from which a process writes a change itself. */
const LARGE = 2 ** 18;

/** The change was not made, and will not be. */
export const NOT_WRITTEN: unique symbol = Symbol('the change was not written');

/** A key whose expectation does not hold, or null where the change was made. */
type Result = string | null | typeof NOT_WRITTEN;

export interface SharedTransactionsOptions {
  /** A number that no other driver of the store has. */
  readonly sender: number;
  /** Makes the changes of another process, should this one become the writer. Does not throw. */
  readonly apply: (batch: Batch) => Promise<Outcome>;
  /** Whether this process may become the writer. Default: true. */
  readonly mayWrite?: boolean;
  /** Hears why this process writes by itself, should it have to. */
  readonly log?: StorageLog | undefined;
  /** Milliseconds that a writer has to answer; for as long nobody asks it again when it has not. Default: 1,000. */
  readonly patienceMs?: number;
}

const UNKNOWN =
  'it is not known whether the write took effect: the process that wrote for others has not answered, and the store does not say; read before you write again';

interface Pending extends SentChange {
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Puts what several processes write at the same time into common transactions: one of the processes is the writer, and the others send it their changes. LMDB has one lock for
 * all writers, and each transaction waits for the disk: by themselves, the processes would wait for each other's. Whoever has no connection to a writer writes itself, which
 * is always right.
 */
export class SharedTransactions {
  readonly #environment: Environment;
  readonly #store: string;
  readonly #sender: number;
  readonly #records: SenderRecords;
  readonly #apply: (batch: Batch) => Promise<Outcome>;
  readonly #mayWrite: boolean;
  readonly #patienceMs: number;
  readonly #log: StorageLog | undefined;
  /** Whether the log says that this process writes by itself. */
  #told = false;
  #writer: WriterServer | undefined;
  #connection: WriterConnection | undefined;
  #looking: Promise<void> | undefined;
  /** The next look, where nobody writes until then. */
  #later: NodeJS.Timeout | undefined;
  /** Monotonic: not before does it look for a writer again. */
  #lookAt = 0;
  #closed = false;
  #waiting: Pending[] = [];
  #batches = 0;
  /** Batches that are not settled. */
  #underWay = 0;
  #epoch = 0;
  /** Resolves with whether the epoch has begun in the store; undefined before it is to. */
  #begun: Promise<boolean> | undefined;
  #slots = 0;
  readonly #freeSlots: number[] = [];

  /** `environment` has to stay open at the same folder until this is closed. */
  constructor(environment: Environment, { sender, apply, log, mayWrite = true, patienceMs = PATIENCE_MS }: SharedTransactionsOptions) {
    this.#environment = environment;
    this.#store = environment.folder;
    this.#sender = sender;
    this.#records = new SenderRecords(environment, sender);
    this.#apply = apply;
    this.#mayWrite = mayWrite;
    this.#patienceMs = patienceMs;
    this.#log = log;
    const reason = reasonAgainstMeeting(environment.root);
    if (reason === undefined) this.#look();
    else {
      this.#lookAt = Infinity;
      // Of several processes with one store, those that may write say so.
      if (mayWrite) this.#tell(reason, 'move the store to a folder with a shorter path');
    }
  }

  /** Whether the writer is to make the change. */
  takes({ put = [], notify = [] }: Change): boolean {
    if (!this.#connection) this.#look();
    // Notifications of one driver have its own versions, in order.
    return this.#connection !== undefined && notify.length === 0 && put.reduce((sum, { value }) => sum + value.length, 0) < LARGE;
  }

  /**
   * Has the writer make the change, and resolves once it is on the disk.
   * @throws StorageFailure
   */
  async write(change: Change, version: number): Promise<Result> {
    const slot = this.#freeSlots.pop() ?? this.#slots++;
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#waiting.push({ change, version, slot, resolve, reject });
        if (this.#waiting.length === 1) setImmediate(() => void this.#send());
      });
    } finally {
      this.#freeSlots.push(slot);
    }
  }

  /** Removes what the store knows about this sender. Nothing may be under way. */
  async close(): Promise<void> {
    await this.leave();
    if (this.#begun) await this.#records.remove().catch(() => undefined);
  }

  /** Ends the part in it. Nothing may be under way. */
  async leave(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#later);
    await this.#looking;
    this.#connection?.close();
    await this.#writer?.close();
  }

  async #send(): Promise<void> {
    const pending = this.#waiting;
    this.#waiting = [];
    try {
      const results = await this.#results(pending);
      for (const [at, { resolve }] of pending.entries()) resolve(results ? results[at]! : NOT_WRITTEN);
    } catch (error) {
      for (const { reject } of pending) reject(error);
    }
  }

  /** Undefined if nothing was written. */
  async #results(pending: readonly Pending[]): Promise<readonly Result[] | undefined> {
    // The records of what is under way must not be forgotten.
    if (!this.#begun && this.#underWay > 0) return undefined;
    this.#begun ??= this.#begin();
    if (!(await this.#begun)) {
      this.#begun = undefined;
      return undefined;
    }
    const connection = this.#connection;
    if (!connection) return undefined;
    this.#underWay += 1;
    try {
      return await this.#asked(connection, pending);
    } finally {
      this.#underWay -= 1;
    }
  }

  async #asked(connection: WriterConnection, pending: readonly Pending[]): Promise<readonly Result[] | undefined> {
    const epoch = this.#epoch;
    this.#batches += 1;
    const changes = pending.map(({ change, version, slot }) => ({ change, version, slot }));
    const outcome = await connection.ask({ number: this.#batches, store: this.#store, sender: this.#sender, epoch, changes });
    switch (outcome?.kind) {
      case 'applied':
        // No writer answers otherwise.
        return outcome.results.length === changes.length ? outcome.results : this.#found(epoch, changes);
      case 'refused':
        // The store may know nothing of this sender: a process that does not see this one may have removed what it knew.
        if (this.#epoch === epoch) this.#begun = undefined;
        return undefined;
      case 'failed':
        throw new StorageFailure(NAME, outcome.reason, { full: outcome.full });
      case undefined:
        return this.#found(epoch, changes);
    }
  }

  /** What has become of changes that the writer has not answered. */
  async #found(epoch: number, changes: readonly SentChange[]): Promise<readonly Result[]> {
    if (this.#epoch === epoch) this.#begun = this.#begin(epoch);
    if (!(await this.#begun)) {
      this.#begun = undefined;
      throw new StorageFailure(NAME, UNKNOWN);
    }
    return changes.map((change) => (this.#records.has(change) ? null : NOT_WRITTEN));
  }

  /** Begins another epoch. `after`: only where the store knows of this one, which ends. Resolves with whether it has begun. */
  async #begin(after?: number): Promise<boolean> {
    this.#epoch += 1;
    return this.#records.beginEpoch(this.#epoch, after).catch(() => false);
  }

  /** Says once why this process writes by itself. */
  #tell(reason: string, remedy: string): void {
    if (this.#told) return;
    this.#told = true;
    this.#log?.warn('the processes of this store do not share transactions, so that writes are slower', {
      path: this.#environment.root,
      reason,
      remedy,
    });
  }

  /** Connects to the writer, or becomes it where there is none. */
  #look(): void {
    if (this.#writer || this.#connection || this.#looking || this.#closed || performance.now() < this.#lookAt) return;
    this.#lookAt = performance.now() + LOOK_MS;
    this.#looking = this.#joined()
      .catch((error: unknown) => this.#tell(String(error), 'let the user of the server make files and sockets in this folder'))
      .finally(() => {
        this.#looking = undefined;
        clearTimeout(this.#later);
        if (!this.#writer && !this.#connection && !this.#closed) this.#later = setTimeout(() => this.#look(), IDLE_LOOK_MS).unref();
      });
  }

  async #joined(): Promise<void> {
    if (this.#mayWrite) this.#writer = await WriterServer.begin(this.#environment.root, this.#apply);
    if (this.#writer) return removeUnusedRecords(this.#environment).catch(() => undefined);
    this.#connection = await WriterConnection.open(writerSocketIn(this.#environment.root), this.#patienceMs, (lost) => {
      if (this.#connection !== lost) return;
      this.#connection = undefined;
      this.#lookAt = lost.givenUp ? performance.now() + this.#patienceMs : 0;
      this.#look();
    });
  }
}
