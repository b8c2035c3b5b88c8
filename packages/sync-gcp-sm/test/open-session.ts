import { openTestSession, type GoogleServer, type TestSession } from '@strongroom/sync-testkit';
import type { Static } from 'typebox';
import { createGcpSmDestination, type GcpSmConnection } from '../src/index.ts';

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

/** A session to the server. */
export function openSession(server: GoogleServer, change: Partial<Connection> = {}): Promise<TestSession> {
  const { host, port, ca, authority } = server;
  const plugin = createGcpSmDestination({ endpoint: { host, port }, ca, authority: authority.url });
  return openTestSession(plugin, connectionOf({ credentials: JSON.stringify(server.account), ...change }), { ca });
}
