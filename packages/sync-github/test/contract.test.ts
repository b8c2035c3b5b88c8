import { afterAll, afterEach, describe, expect, jest, test } from '@jest/globals';
import { type GithubServer, startGithubServer, syncDestinationContract } from '@strongroom/sync-testkit';
import { githubDestination } from '../src/index.ts';
import { githubOutside, secondsApart } from './github-outside.ts';
import { connectionOf } from './open-session.ts';

// A busy machine takes its time for many calls.
jest.setTimeout(60_000);

const server: GithubServer = await startGithubServer({ tls: true, secretsNow: secondsApart(), rateLimit: 100_000 });
server.addRepository('acme', 'shop', ['production']);
server.addOrganization('acme');
const repository = { enterprise_url: server.url, repository_owner: 'acme', repository_name: 'shop' };
const shared = {
  plugin: githubDestination,
  ca: server.ca,
  unreachable: (good: ReturnType<typeof connectionOf>) => ({ ...good, enterprise_url: 'https://127.0.0.1:1' }),
  malformed: (good: ReturnType<typeof connectionOf>) => ({ ...good, access_token: undefined, app_name: undefined }),
};

afterAll(() => server.stop());
afterEach(() => expect(server.faults).toEqual([]));

describe('GitHub, secrets of a repository', () => {
  syncDestinationContract(
    { describe, test },
    {
      ...shared,
      config: connectionOf({ ...repository, access_token: server.token }),
      outside: githubOutside(() => server, 'acme/shop'),
      wrongCredentials: (good) => ({ ...good, access_token: 'ghp_nothing' }),
    },
  );
});

describe('GitHub, secrets of an environment, as an app', () => {
  const account = { app_id: server.app.appId, private_key: server.app.privateKey };
  syncDestinationContract(
    { describe, test },
    {
      ...shared,
      account,
      config: connectionOf({ ...repository, environment_name: 'production', app_name: 'sync', installation_id: server.app.installationId }),
      outside: githubOutside(() => server, 'acme/shop/production'),
      wrongCredentials: (good) => ({ ...good, installation_id: 1 }),
    },
  );
});

describe('GitHub, secrets of an organization', () => {
  syncDestinationContract(
    { describe, test },
    {
      ...shared,
      config: connectionOf({
        enterprise_url: server.url,
        access_token: server.token,
        secrets_location: 'organization',
        organization_name: 'acme',
        organization_visibility: 'selected',
        selected_repository_names: ['shop'],
      }),
      outside: githubOutside(() => server, 'acme'),
      wrongCredentials: (good) => ({ ...good, access_token: server.addWeakToken() }),
      listed: 120,
    },
  );
});
