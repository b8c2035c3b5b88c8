import { afterAll, afterEach, expect } from '@jest/globals';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { type GithubServer, startGithubServer } from '@strongroom/sync-testkit';
import { destinationWalk } from '../../sync-testkit/test/engine/destination-walk.ts';
import { createGithubDestination } from '../src/index.ts';
import { githubOutside, secondsApart } from './github-outside.ts';

const server: GithubServer = await startGithubServer({ secretsNow: secondsApart() });
server.addRepository('acme', 'shop');
afterEach(() => expect(server.faults).toEqual([]));
afterAll(() => server.stop());

destinationWalk({
  plugin: createGithubDestination({ endpoint: server.url }) as unknown as SyncDestinationPlugin,
  alias: 'codehost',
  // The specification spells the name of the repository so.
  fields: () => ({ access_token: server.token, repository_owner: 'acme', repisitory_name: 'shop' }),
  shown: () => ({
    access_token: '*****',
    repository_owner: 'acme',
    repository_name: 'shop',
    secrets_location: 'repository',
    organization_visibility: 'all',
  }),
  credential: 'access_token',
  allowed: () => ({ allowed_ipv4_addresses: '127.0.0.1/32', allowed_ports: String(server.port) }),
  outside: githubOutside(() => server, 'acme/shop'),
  writes: () => server.calls.filter(({ method }) => method !== 'GET').length,
  throttledCode: '403',
  empty: () => {
    server.forget();
    const scope = server.scope('acme/shop');
    for (const { name } of scope.all()) scope.delete(name);
  },
});
