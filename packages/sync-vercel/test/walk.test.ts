import { afterAll, afterEach, expect } from '@jest/globals';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { startVercelServer, type VercelServer } from '@strongroom/sync-testkit';
import { destinationWalk } from '../../sync-testkit/test/engine/destination-walk.ts';
import { createVercelDestination } from '../src/index.ts';
import { vercelOutside } from './vercel-outside.ts';

const server: VercelServer = await startVercelServer();
const project = server.addProject('shop', 'team_acme');
afterEach(() => expect(server.faults).toEqual([]));
afterAll(() => server.stop());

destinationWalk({
  plugin: createVercelDestination({ endpoint: server.url }) as unknown as SyncDestinationPlugin,
  alias: 'webhost-project',
  fields: () => ({
    access_token: server.token,
    project_id: project.id,
    team_id: 'team_acme',
    deployment_environments: 'production,preview',
  }),
  shown: () => ({
    access_token: '*****',
    project_id: project.id,
    team_id: 'team_acme',
    deployment_environments: ['production', 'preview'],
  }),
  credential: 'access_token',
  allowed: () => ({ allowed_ipv4_addresses: '127.0.0.1/32', allowed_ports: String(server.port) }),
  outside: vercelOutside(
    () => server,
    () => project,
  ),
  writes: () => server.calls.filter(({ method }) => method !== 'GET').length,
  throttledCode: '429 too_many_requests',
  empty: () => {
    server.forget();
    for (const { id } of project.all()) project.delete(id);
  },
});
