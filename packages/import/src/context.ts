import type { Checkpoint } from './checkpoint.ts';
import type { MountMap } from './mount-map.ts';
import type { RawStore } from './raw-store.ts';
import type { SecretsFile } from './secrets-file.ts';
import type { Selection } from './selection.ts';
import type { Server } from './server.ts';

/** Which versions of secrets come: all, the current one, or so many of the newest. */
export type Versions = 'all' | 'latest' | number;

/** What every part of the import works with. */
export interface Context {
  readonly source: Server;
  readonly target: Server;
  readonly selection: Selection;
  readonly map: MountMap;
  readonly secrets: SecretsFile;
  readonly checkpoint: Checkpoint;
  readonly versions: Versions;
  /** Deleted versions are undeleted at the source, read, and deleted there again. */
  readonly undelete: boolean;
  /** Static roles and libraries are written, too: this server changes the passwords of their accounts at once. */
  readonly takeOver: boolean;
  /** The store of the source; undefined where it is not to be read. */
  readonly raw: RawStore | undefined;
  readonly apply: boolean;
  readonly parallel: number;
  /** Milliseconds since the epoch. */
  now(): number;
}
