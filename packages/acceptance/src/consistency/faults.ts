import type { EtcdCluster, EtcdMember, PostgresServer } from '@strongroom/lab';
import type { Cluster } from './cluster.ts';
import type { PostgresPair } from './postgres-pair.ts';

/** Something that goes wrong for a while, and is well again when this resolves. */
export interface Fault {
  readonly name: string;
  /** False where there was nothing that it could strike. */
  happen(random: () => number): Promise<boolean>;
}

/** Milliseconds for which something stands still: less than what callers wait for, and much more than a call takes. */
const STANDSTILL = 2_000;

/** What can happen to the processes of any cluster. */
export function processFaults({ nodes }: Cluster): Fault[] {
  const one = (random: () => number) => nodes[Math.floor(random() * nodes.length)]!;
  return [
    {
      name: 'a node is frozen',
      happen: async (random) => {
        await standStill(one(random).pid);
        return true;
      },
    },
    {
      name: 'a node is killed and started again',
      happen: async (random) => {
        await one(random).replace();
        return true;
      },
    },
  ];
}

/** What can happen to a server with workers. It is killed whole in between, since workers that keep on dying make it give up. */
export function workerFaults({ nodes }: Cluster): Fault[] {
  const [server] = nodes;
  const ofOne = (of: 'workers' | 'writers', name: string): Fault[] => {
    const fault = (what: string, strike: (pid: number) => unknown): Fault => ({
      name: `${name} is ${what}`,
      happen: async (random) => {
        const pids = await server![of]();
        const pid = pids[Math.floor(random() * pids.length)];
        if (pid !== undefined) await strike(pid);
        return pid !== undefined;
      },
    });
    return [fault('frozen', standStill), fault('killed', (pid) => process.kill(pid, 'SIGKILL'))];
  };
  return [
    ...ofOne('workers', 'a worker'),
    ...ofOne('writers', 'the process that writes for the workers'),
    {
      name: 'the server is killed and started again',
      happen: async () => {
        await server!.replace();
        return true;
      },
    },
  ];
}

/** What can happen to the members of an etcd, in turn to the leader and to any of them. */
export function etcdFaults(etcd: EtcdCluster): Fault[] {
  let struck = 0;
  const member = async (random: () => number): Promise<EtcdMember> => {
    const leader = await etcd.leader();
    struck += 1;
    return struck % 2 ? leader : etcd.members[Math.floor(random() * etcd.members.length)]!;
  };
  const fault = (name: string, begin: (struck: EtcdMember) => unknown, end: (struck: EtcdMember) => unknown): Fault => ({
    name,
    happen: async (random) => {
      const chosen = await member(random);
      await begin(chosen);
      await pause();
      await end(chosen);
      return true;
    },
  });
  return [
    fault(
      'a member of etcd is killed',
      (one) => one.kill(),
      (one) => one.start(),
    ),
    fault(
      'a member of etcd is frozen',
      (one) => one.freeze(),
      (one) => one.thaw(),
    ),
    fault(
      'a member of etcd is cut off from the others',
      (one) => one.isolate(),
      (one) => one.heal(),
    ),
  ];
}

/** The primary is lost, and nothing that was answered is. */
export function failoverFault(pair: PostgresPair): Fault {
  return {
    name: 'the database fails over to its standby',
    happen: async () => {
      await pair.failOver();
      return true;
    },
  };
}

/** What can happen between nodes and their PostgreSQL, and to it. */
export function postgresFaults({ nodes }: Cluster, postgres: () => PostgresServer): Fault[] {
  const links = (random: () => number) => nodes[Math.floor(random() * nodes.length)]!.links;
  return [
    {
      name: 'the way of a node to its database is frozen',
      happen: async (random) => {
        const frozen = links(random);
        for (const link of frozen) link.freeze();
        await pause();
        for (const link of frozen) link.thaw();
        return true;
      },
    },
    {
      name: "a node's connections to its database are cut",
      happen: async (random) => {
        for (const link of links(random)) link.cut();
        return true;
      },
    },
    {
      name: 'half of the sessions of the database are ended',
      happen: async () => {
        const ended = await postgres().query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1 AND pid % 2 = 0',
          ['client backend'],
        );
        return ended.length > 0;
      },
    },
    {
      name: 'the database crashes and recovers',
      happen: async () => {
        await postgres().crash();
        await postgres().restart();
        return true;
      },
    },
  ];
}

async function standStill(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await pause();
  process.kill(pid, 'SIGCONT');
}

async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, STANDSTILL));
}
