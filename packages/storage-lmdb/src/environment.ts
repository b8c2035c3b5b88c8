import { chmodSync } from 'node:fs';
import { StorageFailure, type StorageLog } from '@strongroom/storage-sdk';
import { asFailure, NAME } from './failure.ts';
import { addressSpace, makeFolder, prepareFolder } from './folder.ts';
import { closing, dataFileIn, Gate, lockFileIn, opening } from './gate.ts';
import { LARGE_ROOM_BYTES, OpenFile, type Database } from './open-file.ts';
import { placeOf, stampOf, type Place } from './store-folder.ts';

interface Opened {
  readonly file: OpenFile;
  readonly gate: Gate;
}

/** The LMDB file of the store below one folder, opened. */
export class Environment {
  readonly root: string;
  /** Called when a write has failed in a way after which `renew` is needed, before any other write ends. */
  onSpoiled: () => void = () => undefined;
  readonly #mapBytes: number;
  readonly #log: StorageLog | undefined;
  readonly #notify = (): void => this.onSpoiled();
  #opened: Opened | undefined;
  #closing = false;
  /** Why the file could not be opened again. */
  #failure: StorageFailure | undefined;
  #place: Place | undefined;

  private constructor(root: string, mapBytes: number | undefined, log: StorageLog | undefined) {
    this.root = root;
    this.#log = log;
    this.#mapBytes = mapBytes ?? addressSpace();
  }

  /** @throws StorageFailure */
  static async open(root: string, mapBytes?: number, log?: StorageLog): Promise<Environment> {
    const environment = new Environment(root, mapBytes, log);
    await environment.#open();
    return environment;
  }

  /** Where the opened file is. */
  get folder(): string {
    return this.#place!.folder;
  }

  /** The file that LMDB maps, shared and for reading: it writes by system calls. */
  get dataFile(): string {
    return dataFileIn(this.folder);
  }

  /** Whether another store has taken the place of the opened one. */
  get replaced(): boolean {
    return this.#place !== undefined && stampOf(this.root) !== this.#place.stamp;
  }

  get opened(): boolean {
    return this.#opened !== undefined;
  }

  /** @throws StorageFailure while the file is being closed, or when it could not be opened again. */
  get db(): Database {
    return this.#required().file.db;
  }

  /**
   * Has `hand` hand its writes to the file, which has to stay open meanwhile, and resolves to its result when they are on the disk. `room`: how many bytes they may add.
   * @throws StorageFailure
   */
  async writing<T>(hand: (db: Database) => T | Promise<T>, room?: number): Promise<T> {
    const { file, gate } = this.#required();
    return gate.writing(async () => file.writing(() => hand(file.db), room));
  }

  /** Before a commit is tried again: adds to the next transaction a larger entry that is gone again at its end. */
  makeRoom(): void {
    this.writing(() => this.#required().file.makeRoom(), LARGE_ROOM_BYTES).catch(() => undefined);
  }

  /** Why the file could not be opened again now, so that it had better stay open for reading; undefined where nothing speaks against it. */
  get unwritable(): StorageFailure | undefined {
    if (!this.#opened) return undefined;
    try {
      // As the opening does. A file system that has turned read-only after an error may still say that it can be written.
      chmodSync(lockFileIn(this.folder), 0o600);
      return undefined;
    } catch (error) {
      return asFailure(error);
    }
  }

  /** Closes the file and opens it again. Nothing may be under way. @throws StorageFailure */
  async renew(): Promise<void> {
    const file = this.#opened?.file;
    await this.close();
    if (file?.spoiled) await file.closed;
    this.#closing = false;
    await this.#open();
  }

  async close(): Promise<void> {
    this.#closing = true;
    const opened = this.#opened;
    this.#opened = undefined;
    if (!opened) return;
    await this.#leave(opened.file);
    opened.gate.close();
  }

  async #leave(file: OpenFile): Promise<void> {
    await closing(this.root, async () => file.close(this.#notify));
  }

  #required(): Opened {
    if (this.#closing) throw new StorageFailure(NAME, 'the file is being closed');
    if (this.#opened) return this.#opened;
    throw this.#failure ?? new StorageFailure(NAME, 'the file is not open');
  }

  async #open(): Promise<void> {
    try {
      makeFolder(this.root);
      let place!: Place;
      const prepare = (): string => {
        place = placeOf(this.root);
        prepareFolder(place.folder);
        return place.folder;
      };
      const open = (folder: string): OpenFile => OpenFile.open(this.root, folder, this.#mapBytes, this.#notify);
      let file: OpenFile;
      // Another user in this process may still have a file that is spoiled.
      for (;;) {
        file = await opening(this.root, prepare, open, this.#log && { log: this.#log });
        if (!file.spoiled) break;
        await this.#leave(file);
        await file.closed;
      }
      this.#place = place;
      this.#opened = { file, gate: new Gate(this.root, place.folder) };
    } catch (error) {
      this.#failure = asFailure(error);
      throw this.#failure;
    }
  }
}
