import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEtcd, startPostgres } from '@strongroom/lab';
import type { StoreName } from './bench-arguments.ts';

/** A store on this machine, which nothing stands before. */
export interface PlainStore {
  /** What follows `storage` in the server's configuration. */
  readonly stanza: string;
  stop(): Promise<void>;
}

/** The store that a configuration names so; etcd has three members. */
export async function plainStore(name: StoreName): Promise<PlainStore> {
  switch (name) {
    case 'lmdb': {
      const folder = await mkdtemp(join(tmpdir(), 'strongroom-store-'));
      return { stanza: `"lmdb" { path = "${join(folder, 'data')}" }`, stop: async () => rm(folder, { recursive: true, force: true }) };
    }
    case 'postgresql': {
      const postgres = await startPostgres({ settings: ['max_connections=100'] });
      return { stanza: `"postgresql" { connection_url = "${postgres.url}" }`, stop: async () => postgres.stop() };
    }
    case 'etcd': {
      const etcd = await startEtcd({ members: 3 });
      return { stanza: `"etcd" { address = "${etcd.endpoints.join(',')}" }`, stop: async () => etcd.stop() };
    }
  }
}
