import { afterAll, afterEach, describe, expect, jest, test } from '@jest/globals';
import { startVercelServer, syncDestinationContract, type VercelServer } from '@strongroom/sync-testkit';
import { createVercelDestination } from '../src/index.ts';
import { vercelOutside } from './vercel-outside.ts';

// A busy machine takes its time for many calls.
jest.setTimeout(60_000);

const server: VercelServer = await startVercelServer({ pageSize: 10 });
const options = { endpoint: server.url };

describe('Vercel', () => {
  afterAll(() => server.stop());
  afterEach(() => expect(server.faults).toEqual([]));
  const project = server.addProject('shop', 'team_acme');

  syncDestinationContract(
    { describe, test },
    {
      plugin: createVercelDestination(options),
      config: () => {
        options.endpoint = server.url;
        return {
          access_token: server.token,
          project_id: project.id,
          team_id: 'team_acme',
          deployment_environments: ['production', 'preview'],
        };
      },
      outside: vercelOutside(
        () => server,
        () => project,
      ),
      wrongCredentials: (good) => ({ ...good, access_token: 'nothing-that-was-given-out' }),
      // Where Vercel is, is the operator's to say, and not the destination's.
      unreachable: (good) => {
        options.endpoint = 'http://127.0.0.1:1';
        return good;
      },
      malformed: (good) => ({ ...good, deployment_environments: ['staging'] }),
    },
  );
});
