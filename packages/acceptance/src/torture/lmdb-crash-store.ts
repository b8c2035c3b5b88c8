import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import type { CrashStore } from './crash-store.ts';
import { checkPages } from './lmdb-pages.ts';

/** A folder; nothing happens to it but the end of the server, or of one of its workers. */
export async function lmdbCrashStore(workers = 1): Promise<CrashStore> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-crash-store-'));
  const path = join(folder, 'data');
  return {
    name: workers > 1 ? `LMDB, ${workers} workers` : 'LMDB',
    stanza: `"lmdb" { path = "${path}" }`,
    workers,
    open: async () => lmdbStorage({ path }),
    faults: [],
    pages: () => checkPages(join(path, 'data.mdb')),
    stop: async () => rm(folder, { recursive: true, force: true }),
  };
}
