import { EngineError, PermissionDenied, Unavailable } from '@strongroom/engine-sdk';
import { byBytes } from '../../kernel/storage/store.ts';
import type { FolderReader } from './folder-reader.ts';

/** Why a folder is left out of a search. */
export type LeftReason = 'denied' | 'unavailable' | 'failed';

/** A folder that a search did not read. */
export interface LeftOut {
  /** From the root, with a closing slash. */
  readonly path: string;
  readonly reason: LeftReason;
}

/** Behind every name of a folder: a cursor that continues after the folder. */
const END = '\u{10ffff}';

/** Goes through lists and their folders in byte order. */
export class Walk {
  readonly #reader: Pick<FolderReader, 'page'>;
  readonly #reachable: readonly string[];
  readonly #signal: AbortSignal;
  readonly #rest: () => Promise<void>;
  readonly #onFault: (folder: string, error: unknown) => void;
  /** With it, another walk continues: the last path that was looked at. Who ends a walk within a piece of it sets it back. */
  position: string;
  readonly left: LeftOut[] = [];

  /** `reachable`: folders to look at where the one above may not be listed, in byte order. `rest` is awaited before each page. `onFault` hears what is no error of a request. */
  constructor(parts: {
    reader: Pick<FolderReader, 'page'>;
    reachable: readonly string[];
    after: string;
    signal: AbortSignal;
    rest: () => Promise<void>;
    onFault: (folder: string, error: unknown) => void;
  }) {
    this.#reader = parts.reader;
    this.#reachable = parts.reachable;
    this.#signal = parts.signal;
    this.#rest = parts.rest;
    this.#onFault = parts.onFault;
    this.position = parts.after;
  }

  /**
   * Every path below these folders that comes after the position, in pieces of one folder: folders end in a slash, and come before what is in them. Ends
   * early when the signal is aborted.
   */
  async *paths(folders: readonly string[]): AsyncGenerator<readonly string[]> {
    const from = this.position;
    for (const folder of [...folders].sort(byBytes)) {
      if (this.#signal.aborted) return;
      if (from.startsWith(folder)) yield* this.#below(folder, from.slice(folder.length));
      else if (byBytes(from, folder) < 0) yield* this.#below(folder, '');
    }
  }

  /** `after` is below the folder. */
  async *#below(folder: string, after: string): AsyncGenerator<readonly string[]> {
    if (after === END) return;
    let last = after;
    const slash = after.indexOf('/');
    if (slash >= 0) {
      last = after.slice(0, slash + 1);
      yield* this.#below(folder + last, after.slice(slash + 1));
    }
    const done = slash >= 0 ? last + END : after;
    for (;;) {
      await this.#rest();
      if (this.#signal.aborted) return;
      let page;
      try {
        page = await this.#reader.page(folder, last);
      } catch (error) {
        this.#leave(folder, error);
        if (error instanceof PermissionDenied) yield* this.#reachableBelow(folder, done);
        return;
      }
      const names = namesAfter(last, page.names);
      let piece: string[] = [];
      for (const [index, name] of names.entries()) {
        const isSeen = page.isSeen(name);
        if (isSeen) piece.push(folder + name);
        if (!name.endsWith('/') && index < names.length - 1) continue;
        // The caller learns the position, and no name that is hidden.
        if (piece.length > 0) {
          this.position = piece.at(-1)!;
          yield piece;
          piece = [];
        }
        if (name.endsWith('/')) yield* isSeen ? this.#below(folder + name, '') : this.#reachableBelow(folder + name, '');
        if (this.#signal.aborted) return;
      }
      if (names.length === 0 || page.names.length < page.asked || this.#signal.aborted) return;
      last = names.at(-1)!;
    }
  }

  async *#reachableBelow(folder: string, after: string): AsyncGenerator<readonly string[]> {
    let covered: string | undefined;
    for (const start of this.#reachable) {
      if (start === folder || !start.startsWith(folder) || (covered !== undefined && start.startsWith(covered))) continue;
      covered = start;
      const from = folder + after;
      if (from.startsWith(start)) yield* this.#below(start, from.slice(start.length));
      else if (byBytes(from, start) < 0) yield* this.#below(start, '');
    }
  }

  #leave(folder: string, error: unknown): void {
    const reason = error instanceof PermissionDenied ? 'denied' : error instanceof Unavailable ? 'unavailable' : 'failed';
    this.left.push({ path: folder, reason });
    // A walk that continues must not meet the same failure again.
    if (reason !== 'denied') this.position = folder + END;
    if (!(error instanceof EngineError) && !this.#signal.aborted) this.#onFault(folder, error);
  }
}

/** An engine may answer a list without heeding `after`. */
function namesAfter(last: string, names: readonly string[]): readonly string[] {
  return last === '' || byBytes(names[0] ?? END, last) > 0 ? names : names.filter((name) => byBytes(name, last) > 0);
}
