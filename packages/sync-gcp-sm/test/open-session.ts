import { silentLog } from '@strongroom/engine-sdk';
import { createNetworkGuard, type DestinationSession, type OwnershipMark, type PutRequest } from '@strongroom/sync-sdk';
import type { GoogleServer } from '@strongroom/sync-testkit';
import type { Static } from 'typebox';
import { createGcpSmDestination, type GcpSmConnection } from '../src/index.ts';

export const OURS: OwnershipMark = { destination: 'a'.repeat(24), association: 'b'.repeat(24) };
export const never = new AbortController().signal;

type Connection = Static<typeof GcpSmConnection>;

/** The fields that are given, and no others. */
export function connectionOf(given: Partial<Connection>): Connection {
  return {
    credentials: undefined,
    project_id: undefined,
    service_account_email: undefined,
    kms_key_id: undefined,
    replica_regions: undefined,
    replication_locations: undefined,
    locational_kms_keys: undefined,
    global_kms_key: undefined,
    ...given,
  };
}

export interface OpenedSession extends DestinationSession {
  /** A put with the usual arguments. */
  write(name: string, value: string, more?: Partial<PutRequest>): ReturnType<DestinationSession['put']>;
}

/** A session to the server; every network is allowed. */
export async function openSession(server: GoogleServer, change: Partial<Connection> = {}): Promise<OpenedSession> {
  const network = createNetworkGuard({ allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: true }, { ca: server.ca });
  const { host, port, ca, authority } = server;
  const plugin = createGcpSmDestination({ endpoint: { host, port }, ca, authority: authority.url });
  const connection = connectionOf({ credentials: JSON.stringify(server.account), ...change });
  const session = await plugin.open(connection, { log: silentLog, now: () => new Date(), network });
  return {
    read: (request) => session.read(request),
    put: (request) => session.put(request),
    remove: (request) => session.remove(request),
    list: (request) => session.list(request),
    close: async () => {
      await session.close();
      await network.close();
    },
    write: (name, value, more) => session.put({ name, value, mark: OURS, tags: {}, operationId: 'one', signal: never, ...more }),
  };
}
