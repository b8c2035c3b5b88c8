import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEtcd, startPostgres } from '@strongroom/lab';
import { etcdStorage } from '@strongroom/storage-etcd';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { postgresqlStorage } from '@strongroom/storage-postgresql';
import type { StorageDriver } from '@strongroom/storage-sdk';

/** The store of a server that is killed, which may be struck by a fault at the same time. */
export interface CrashStore {
  readonly name: string;
  /** What follows `storage` in the server's configuration. */
  readonly stanza: string;
  /** Without the server. */
  open(): Promise<StorageDriver>;
  /** What can happen to it, in turn. Each resolves, once it has happened, with what mends it: the server starts and is checked before that. */
  readonly faults: readonly (() => Promise<() => Promise<void>>)[];
  stop(): Promise<void>;
}

/** The store that a configuration names so: `lmdb`, `postgresql` or `etcd`. */
export async function crashStore(name: string, random: () => number = Math.random): Promise<CrashStore> {
  if (name === 'lmdb') return lmdbCrashStore();
  if (name === 'postgresql') return postgresCrashStore();
  if (name === 'etcd') return etcdCrashStore(random);
  throw new Error(`no store is named ${name}; there are lmdb, postgresql and etcd`);
}

const WELL = async (): Promise<void> => undefined;

/** A folder; nothing happens to it but the end of the server. */
export async function lmdbCrashStore(): Promise<CrashStore> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-crash-store-'));
  const path = join(folder, 'data');
  return {
    name: 'LMDB',
    stanza: `"lmdb" { path = "${path}" }`,
    open: async () => lmdbStorage({ path }),
    faults: [],
    stop: async () => rm(folder, { recursive: true, force: true }),
  };
}

/** A PostgreSQL of its own, which crashes and recovers, or ends all its sessions. */
export async function postgresCrashStore(): Promise<CrashStore> {
  const postgres = await startPostgres({ settings: ['max_connections=100'] });
  return {
    name: 'PostgreSQL',
    stanza: `"postgresql" { connection_url = "${postgres.url}" }`,
    open: async () => postgresqlStorage({ connectionUrl: postgres.url }),
    faults: [
      async () => {
        await postgres.crash();
        await postgres.restart();
        return WELL;
      },
      async () => {
        await postgres.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1', [
          'client backend',
        ]);
        return WELL;
      },
    ],
    stop: async () => postgres.stop(),
  };
}

/** Three members of etcd, of which one is killed, frozen or cut off; every second time it is the leader. */
export async function etcdCrashStore(random: () => number): Promise<CrashStore> {
  const etcd = await startEtcd({ members: 3 });
  const { endpoints } = etcd;
  let struck = 0;
  const victim = async () => {
    const leader = await etcd.leader();
    struck += 1;
    return struck % 2 ? leader : etcd.members[Math.floor(random() * etcd.members.length)]!;
  };
  return {
    name: 'etcd',
    stanza: `"etcd" { address = "${endpoints.join(',')}" }`,
    open: async () => etcdStorage({ endpoints }),
    faults: [
      async () => {
        const member = await victim();
        await member.kill();
        return async () => member.start();
      },
      async () => {
        const member = await victim();
        member.freeze();
        return async () => member.thaw();
      },
      async () => {
        const member = await victim();
        await member.isolate();
        return async () => member.heal();
      },
    ],
    stop: async () => etcd.stop(),
  };
}
