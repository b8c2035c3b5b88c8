import { openTestSession, type AzureServer, type TestSession } from '@strongroom/sync-testkit';
import type { Static } from 'typebox';
import { type AzureKvConnection, type AzureKvOptions, createAzureKvDestination } from '../src/index.ts';

export const never = new AbortController().signal;

/** A session to the server. */
export function openSession(
  server: AzureServer,
  change: Partial<Static<typeof AzureKvConnection>> = {},
  options: AzureKvOptions = {},
): Promise<TestSession> {
  const plugin = createAzureKvDestination({
    authorityHost: server.url,
    disableInstanceDiscovery: true,
    disableChallengeResourceVerification: true,
    ...options,
  });
  const { tenantId, client, ca } = server;
  const connection = {
    key_vault_uri: server.url,
    tenant_id: tenantId,
    client_id: client.clientId,
    client_secret: client.clientSecret,
    cloud: 'cloud',
  };
  return openTestSession(plugin, { ...connection, ...change }, { ca });
}
