import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkKeys, StorageFailure } from '@strongroom/storage-sdk';
import type { Entry, Replacement } from '@strongroom/storage-sdk';
import { Environment } from './environment.ts';
import { asFailure, NAME } from './failure.ts';
import { moveTo, newName } from './store-folder.ts';
import { Versions } from './versions.ts';
import { roomFor } from './write-groups.ts';

/** A store in a folder of its own, until it takes the place of the one that is used. */
export class NewStore implements Replacement {
  readonly #root: string;
  readonly #name: string;
  readonly #environment: Environment;
  readonly #version: number;
  readonly #moved: () => Promise<void>;
  #over = false;

  private constructor(root: string, name: string, environment: Environment, firstBlock: number, moved: () => Promise<void>) {
    this.#root = root;
    this.#name = name;
    this.#environment = environment;
    this.#version = Versions.firstOf(firstBlock);
    this.#moved = moved;
    void environment.writing((db) => Versions.begin(db, firstBlock)).catch(() => undefined);
  }

  /** `firstBlock`: of versions that no driver has used. `moved`: called once the store has another place, in this process too. @throws StorageFailure */
  static async make(root: string, mapBytes: number | undefined, firstBlock: number, moved: () => Promise<void>): Promise<NewStore> {
    const name = newName('store');
    return new NewStore(root, name, await Environment.open(join(root, name), mapBytes), firstBlock, moved);
  }

  async put(entries: readonly Entry[]): Promise<void> {
    this.#requireOpen();
    checkKeys(NAME, { put: entries });
    try {
      await this.#environment.writing(
        (db) => {
          for (const { key, value } of entries) void db.put(key, value, this.#version);
        },
        roomFor({ put: entries }),
      );
    } catch (error) {
      throw asFailure(error);
    }
  }

  async install(): Promise<void> {
    this.#requireOpen();
    this.#over = true;
    try {
      await this.#environment.close();
      moveTo(this.#root, this.#name);
    } catch (error) {
      this.#remove();
      throw asFailure(error);
    }
    await this.#moved();
  }

  async discard(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    await this.#environment.close();
    this.#remove();
  }

  #requireOpen(): void {
    if (this.#over) throw new StorageFailure(NAME, 'the replacement was given up');
  }

  #remove(): void {
    rmSync(join(this.#root, this.#name), { recursive: true, force: true });
  }
}
