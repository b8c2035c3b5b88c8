import { standbyMissing, startFreezingProxy, startPostgres, type FreezingProxy, type PostgresServer } from '@strongroom/lab';
import { postgresqlStorage } from '@strongroom/storage-postgresql';
import { PostgresPair, type Place } from '../consistency/postgres-pair.ts';
import { WELL, type CrashStore, type StoreFault } from './crash-store.ts';

/** One PostgreSQL, or a primary with a synchronous standby. */
interface Database {
  readonly places: readonly Place[];
  /** Whichever it is now. */
  primary(): PostgresServer;
  readonly failOver?: () => Promise<void>;
  stop(): Promise<void>;
}

/**
 * A PostgreSQL of its own, with a synchronous standby where one can be started. There are two links to each place: while the first is frozen, a server that starts
 * takes the second. What the killed server sent last arrives when the first is thawed.
 */
export async function postgresCrashStore(): Promise<CrashStore> {
  const database = await startDatabase();
  const linksTo = async (): Promise<FreezingProxy[]> => Promise.all(database.places.map((place) => startFreezingProxy(place)));
  const [first, second] = [await linksTo(), await linksTo()];
  const links = first.flatMap((link, place) => [link, second[place]!]);
  const { superuser, password } = database.primary();
  const hosts = links.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const connectionUrl = `postgresql://${superuser}:${password}@${hosts}/postgres`;
  return {
    name: 'PostgreSQL',
    stanza: `"postgresql" { connection_url = "${connectionUrl}" }`,
    workers: 1,
    open: async () => postgresqlStorage({ connectionUrl }),
    faults: [...faultsOf(database), ...faultsOfLinks(first, links)],
    stop: async () => {
      await Promise.all(links.map((link) => link.close()));
      await database.stop();
    },
  };
}

async function startDatabase(): Promise<Database> {
  if ((await standbyMissing()) === undefined) {
    const pair = await PostgresPair.start();
    const { places } = pair;
    return { places, primary: () => pair.primary, failOver: async () => pair.failOver(), stop: async () => pair.stop() };
  }
  const alone = await startPostgres({ settings: ['max_connections=100'] });
  return { places: [{ host: alone.host, port: alone.port }], primary: () => alone, stop: async () => alone.stop() };
}

function faultsOf({ primary, failOver }: Database): StoreFault[] {
  return [
    {
      name: 'the database crashes and recovers',
      strike: async () => {
        await primary().crash();
        await primary().restart();
        return WELL;
      },
    },
    {
      name: 'all sessions of the database are ended',
      strike: async () => {
        await primary().query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1',
          ['client backend'],
        );
        return WELL;
      },
    },
    ...(failOver
      ? [
          {
            name: 'the database fails over to its standby',
            strike: async () => {
              await failOver();
              return WELL;
            },
          },
        ]
      : []),
  ];
}

function faultsOfLinks(first: readonly FreezingProxy[], links: readonly FreezingProxy[]): StoreFault[] {
  return [
    {
      name: 'the link to the database is frozen',
      strike: async () => {
        for (const link of first) link.freeze();
        return async () => first.forEach((link) => link.thaw());
      },
    },
    {
      name: 'the links to the database are cut',
      strike: async () => {
        for (const link of links) link.cut();
        return WELL;
      },
    },
  ];
}
