import type { PostgresServer } from '@strongroom/lab';
import type { Cluster } from './cluster.ts';

/** Something that goes wrong for a while, and is well again when this resolves. */
export interface Fault {
  readonly name: string;
  happen(random: () => number): Promise<void>;
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
        const { pid } = one(random);
        process.kill(pid, 'SIGSTOP');
        await pause();
        process.kill(pid, 'SIGCONT');
      },
    },
    { name: 'a node is killed and started again', happen: async (random) => one(random).replace() },
  ];
}

/** What can happen between nodes and their PostgreSQL, and to it. */
export function postgresFaults({ nodes }: Cluster, postgres: PostgresServer): Fault[] {
  const link = (random: () => number) => nodes[Math.floor(random() * nodes.length)]!.link!;
  return [
    {
      name: 'the way of a node to its database is frozen',
      happen: async (random) => {
        const frozen = link(random);
        frozen.freeze();
        await pause();
        frozen.thaw();
      },
    },
    { name: "a node's connections to its database are cut", happen: async (random) => link(random).cut() },
    {
      name: 'half of the sessions of the database are ended',
      happen: async () => {
        await postgres.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1 AND pid % 2 = 0',
          ['client backend'],
        );
      },
    },
    { name: 'the database crashes and recovers', happen: async () => (await postgres.crash(), postgres.restart()) },
  ];
}

async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, STANDSTILL));
}
