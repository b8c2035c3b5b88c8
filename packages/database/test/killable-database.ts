import type { DatabasePlugin, DatabaseSession } from '@strongroom/database-sdk';
import type { Engine } from '@strongroom/engine-sdk';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { killableMount, type KillableMount } from '@strongroom/engine-testkit';
import { databaseEngine } from '../src/index.ts';

/** A killable server with the database engine at `database/`. */
export interface KillableDatabase {
  readonly server: KillableMount;
  /** Closes the sessions that it and the servers before it left: the operating system does that for the dead. */
  closeSessions(): Promise<void>;
}

/** `of`: the plugin of its connections. */
export async function killableDatabase(of: DatabasePlugin = postgresqlPlugin as unknown as DatabasePlugin): Promise<KillableDatabase> {
  const sessions: DatabaseSession[] = [];
  const plugin: DatabasePlugin = {
    ...of,
    open: async (config, host) => {
      const session = await of.open(config, host);
      sessions.push(session);
      return session;
    },
  };
  let last: Engine | undefined;
  // A process asks its own mounts alone who uses an account. Here the dead share it with the living, who would wait for their answer.
  const engine: typeof databaseEngine = {
    ...databaseEngine,
    create: (host) => {
      void last?.close?.();
      return (last = databaseEngine.create(host));
    },
  };
  return {
    server: await killableMount(engine, { plugins: [plugin] }),
    closeSessions: async () => {
      await last?.close?.();
      await Promise.all(sessions.splice(0).map(async (session) => session.close()));
    },
  };
}
