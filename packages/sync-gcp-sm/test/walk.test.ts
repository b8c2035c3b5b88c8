import { afterAll } from '@jest/globals';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { type GoogleServer, startGoogleServer } from '@strongroom/sync-testkit';
import { destinationWalk } from '../../sync-testkit/test/engine/destination-walk.ts';
import { createGcpSmDestination } from '../src/index.ts';
import { gcpOutside } from './gcp-outside.ts';

const server: GoogleServer = await startGoogleServer();
// What docs/sync/gcp-sm.md names as the least, and no more.
server.permissions.set(server.account.client_email, [
  'secrets.create',
  'secrets.get',
  'secrets.list',
  'secrets.update',
  'secrets.delete',
  'versions.add',
  'versions.get',
]);
afterAll(() => server.stop());

destinationWalk({
  plugin: createGcpSmDestination({
    endpoint: { host: server.host, port: server.port },
    ca: server.ca,
    authority: server.authority.url,
  }) as unknown as SyncDestinationPlugin,
  alias: 'cloud3-sm',
  fields: () => ({ credentials: JSON.stringify(server.account) }),
  shown: () => ({ credentials: '*****' }),
  credential: 'credentials',
  allowed: () => ({ allowed_ipv4_addresses: '127.0.0.1/32', allowed_ports: String(server.port) }),
  outside: gcpOutside(() => server),
  writes: () => server.calls.filter(({ method }) => !/^(get|list|access)/.test(method)).length,
  throttledCode: '8 RESOURCE_EXHAUSTED',
  empty: () => {
    server.forget();
    for (const { id } of server.secrets.all()) server.secrets.delete(id, '');
  },
});
