import { etcdMissing, standbyMissing, startEtcd, startPostgres } from '@strongroom/lab';
import type { SetUpName } from './consistency-arguments.ts';
import { etcdCluster, lmdbCluster, postgresCluster, workersCluster, type Cluster } from './cluster.ts';
import { etcdFaults, failoverFault, postgresFaults, processFaults, workerFaults, type Fault } from './faults.ts';
import { PostgresPair } from './postgres-pair.ts';

/** Servers on one store, with what can go wrong there. */
export interface Started {
  readonly cluster: Cluster;
  /** In the order in which they happen. */
  readonly faults: readonly Fault[];
  stop(): Promise<void>;
}

/** One way to run several servers on one store. */
export interface SetUp {
  readonly name: SetUpName;
  readonly title: string;
  /** Why it cannot be started here; undefined where it can. */
  readonly missing?: string;
  start(): Promise<Started>;
}

/** Every way that servers can share a store. */
export const SET_UPS: readonly SetUp[] = [
  {
    name: 'lmdb',
    title: 'two processes on one LMDB folder',
    start: async () => {
      const cluster = await lmdbCluster(2);
      return { cluster, faults: processFaults(cluster), stop: () => cluster.close() };
    },
  },
  {
    name: 'workers',
    title: 'a server with two workers on LMDB',
    start: async () => {
      const cluster = await workersCluster(2);
      return { cluster, faults: workerFaults(cluster), stop: () => cluster.close() };
    },
  },
  {
    name: 'postgresql',
    title: 'three nodes on PostgreSQL',
    start: async () => {
      const store = await startPostgres({ settings: ['max_connections=200'] });
      const cluster = await postgresCluster(3, store, [{ host: '127.0.0.1', port: store.port }]);
      const faults = [...processFaults(cluster), ...postgresFaults(cluster, () => store)];
      return { cluster, faults, stop: async () => void (await cluster.close(), await store.stop()) };
    },
  },
  {
    name: 'failover',
    title: 'three nodes on PostgreSQL with a synchronous standby',
    ...missing(await standbyMissing()),
    start: async () => {
      const pair = await PostgresPair.start();
      const cluster = await postgresCluster(3, pair.primary, pair.places);
      const faults = [failoverFault(pair), ...processFaults(cluster), ...postgresFaults(cluster, () => pair.primary)];
      return { cluster, faults, stop: async () => void (await cluster.close(), await pair.stop()) };
    },
  },
  {
    name: 'etcd',
    title: 'three nodes on three members of etcd',
    ...missing(etcdMissing()),
    start: async () => {
      const etcd = await startEtcd({ members: 3 });
      const cluster = await etcdCluster(3, etcd);
      const faults = [...etcdFaults(etcd), ...processFaults(cluster)];
      return { cluster, faults, stop: async () => void (await cluster.close(), await etcd.stop()) };
    },
  },
];

function missing(reason: string | undefined): Pick<SetUp, 'missing'> {
  return reason === undefined ? {} : { missing: reason };
}

export function setUp(name: SetUpName): SetUp {
  return SET_UPS.find((one) => one.name === name)!;
}
