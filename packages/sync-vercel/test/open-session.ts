import { silentLog } from '@strongroom/engine-sdk';
import { createNetworkGuard, type DestinationSession, type OwnershipMark, type PutRequest } from '@strongroom/sync-sdk';
import type { VercelProject, VercelServer } from '@strongroom/sync-testkit';
import type { Static } from 'typebox';
import { createVercelDestination, type VercelConnection } from '../src/index.ts';

export const OURS: OwnershipMark = { destination: 'a'.repeat(24), association: 'b'.repeat(24) };
export const never = new AbortController().signal;

export interface OpenedSession extends DestinationSession {
  /** A put with the usual arguments. */
  write(name: string, value: string, more?: Partial<PutRequest>): ReturnType<DestinationSession['put']>;
}

/** A session to the server; every network is allowed. */
export async function openSession(
  server: VercelServer,
  project: VercelProject,
  change: Partial<Static<typeof VercelConnection>> = {},
): Promise<OpenedSession> {
  const network = createNetworkGuard({ allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: true });
  const connection = {
    access_token: server.token,
    project_id: project.id,
    team_id: project.teamId,
    deployment_environments: ['production', 'preview'],
    ...change,
  };
  const host = { log: silentLog, now: () => new Date(), network };
  const session = await createVercelDestination({ endpoint: server.url }).open(connection, host);
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
