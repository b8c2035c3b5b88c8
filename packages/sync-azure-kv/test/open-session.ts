import { silentLog } from '@strongroom/engine-sdk';
import { createNetworkGuard, type DestinationSession, type OwnershipMark, type PutRequest } from '@strongroom/sync-sdk';
import type { AzureServer } from '@strongroom/sync-testkit';
import type { Static } from 'typebox';
import { type AzureKvConnection, type AzureKvOptions, createAzureKvDestination } from '../src/index.ts';

export const OURS: OwnershipMark = { destination: 'a'.repeat(24), association: 'b'.repeat(24) };

export interface OpenedSession extends DestinationSession {
  /** A put with the usual arguments. */
  write(name: string, value: string, more?: Partial<PutRequest>): ReturnType<DestinationSession['put']>;
}

export const never = new AbortController().signal;

/** A session to the server; every network is allowed. */
export async function openSession(
  server: AzureServer,
  change: Partial<Static<typeof AzureKvConnection>> = {},
  options: AzureKvOptions = {},
): Promise<OpenedSession> {
  const network = createNetworkGuard({ allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: true }, { ca: server.ca });
  const plugin = createAzureKvDestination({
    authorityHost: server.url,
    disableInstanceDiscovery: true,
    disableChallengeResourceVerification: true,
    ...options,
  });
  const { tenantId, client } = server;
  const connection = {
    key_vault_uri: server.url,
    tenant_id: tenantId,
    client_id: client.clientId,
    client_secret: client.clientSecret,
    cloud: 'cloud',
  };
  const session = await plugin.open({ ...connection, ...change }, { log: silentLog, now: () => new Date(), network });
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
