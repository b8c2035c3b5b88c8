import { silentLog } from '@strongroom/engine-sdk';
import { createNetworkGuard, type DestinationSession, type OwnershipMark, type PutRequest } from '@strongroom/sync-sdk';
import type { GithubServer } from '@strongroom/sync-testkit';
import type { Static } from 'typebox';
import { type GithubApp, type GithubConnection, githubDestination } from '../src/index.ts';

const OURS: OwnershipMark = { destination: 'a'.repeat(24), association: 'b'.repeat(24) };
export const never = new AbortController().signal;

type Connection = Static<typeof GithubConnection>;

/** The fields that are given, and the defaults of the others. */
export function connectionOf(given: Partial<Connection>): Connection {
  return {
    access_token: undefined,
    app_name: undefined,
    installation_id: undefined,
    secrets_location: 'repository',
    repository_owner: undefined,
    repository_name: undefined,
    environment_name: undefined,
    organization_name: undefined,
    organization_visibility: 'all',
    selected_repository_names: undefined,
    enterprise_url: undefined,
    ...given,
  };
}

export interface OpenedSession extends DestinationSession {
  /** A put with the usual arguments. */
  write(name: string, value: string, more?: Partial<PutRequest>): ReturnType<DestinationSession['put']>;
}

/** A session to the server; every network is allowed. */
export async function openSession(
  server: GithubServer,
  given: Partial<Connection>,
  account?: Static<typeof GithubApp>,
): Promise<OpenedSession> {
  const network = createNetworkGuard({ allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: true }, { ca: server.ca });
  const connection = connectionOf({ access_token: server.token, enterprise_url: server.url, ...given });
  const host = { log: silentLog, now: () => new Date(), network, ...(account !== undefined && { account }) };
  const session = await githubDestination.open(connection, host);
  return {
    read: (request) => session.read(request),
    put: (request) => session.put(request),
    remove: (request) => session.remove(request),
    list: (request) => session.list(request),
    count: (signal) => session.count!(signal),
    close: async () => {
      await session.close();
      await network.close();
    },
    write: (name, value, more) => session.put({ name, value, mark: OURS, tags: {}, operationId: 'one', signal: never, ...more }),
  };
}
