import { afterAll } from '@jest/globals';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { type AzureServer, startAzureServer } from '@strongroom/sync-testkit';
import { destinationWalk } from '../../sync-testkit/test/engine/destination-walk.ts';
import { createAzureKvDestination } from '../src/index.ts';
import { azureOutside } from './azure-outside.ts';

const server: AzureServer = await startAzureServer();
// What docs/sync/azure-kv.md names as the least, and no more.
server.permissions = ['get', 'list', 'set', 'delete', 'recover'];
afterAll(() => server.stop());

destinationWalk({
  plugin: createAzureKvDestination({
    authorityHost: server.url,
    disableInstanceDiscovery: true,
    disableChallengeResourceVerification: true,
    ca: server.ca,
  }) as unknown as SyncDestinationPlugin,
  alias: 'cloud2-kv',
  fields: () => ({
    key_vault_uri: server.url,
    tenant_id: server.tenantId,
    client_id: server.client.clientId,
    client_secret: server.client.clientSecret,
    cloud: 'cloud',
  }),
  shown: () => ({
    key_vault_uri: server.url,
    tenant_id: server.tenantId,
    client_id: server.client.clientId,
    client_secret: '*****',
    cloud: 'cloud',
  }),
  credential: 'client_secret',
  allowed: () => ({ allowed_ipv4_addresses: '127.0.0.1/32', allowed_ports: String(server.port) }),
  outside: azureOutside(() => server),
  writes: () => server.calls.filter(({ method, path }) => method !== 'GET' && !path.includes('/oauth2/')).length,
  throttledCode: 'Throttled',
  empty: () => {
    server.forget();
    for (const { name } of [...server.secrets.live(), ...server.secrets.deleted()]) server.secrets.purge(name);
  },
});
