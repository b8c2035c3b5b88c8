import type { DatabaseSession } from '@strongroom/database-sdk';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { mortalMount, type MortalMount } from '@strongroom/engine-testkit';
import { databaseEngine } from '../src/index.ts';

/** A mortal server with the database engine at `database/`. */
export interface MortalDatabase {
  readonly server: MortalMount;
  /** Closes the sessions that it and the servers before it left: the operating system does that for the dead. */
  closeSessions(): Promise<void>;
}

export async function mortalDatabase(): Promise<MortalDatabase> {
  const sessions: DatabaseSession[] = [];
  const plugin: typeof postgresqlPlugin = {
    ...postgresqlPlugin,
    open: async (config, host) => {
      const session = await postgresqlPlugin.open(config, host);
      sessions.push(session);
      return session;
    },
  };
  return {
    server: await mortalMount(databaseEngine, { plugins: [plugin] }),
    closeSessions: async () => {
      await Promise.all(sessions.splice(0).map(async (session) => session.close()));
    },
  };
}
