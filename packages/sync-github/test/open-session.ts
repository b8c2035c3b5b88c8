import { openTestSession, type GithubServer, type TestSession } from '@strongroom/sync-testkit';
import type { Static } from 'typebox';
import { type GithubApp, type GithubConnection, githubDestination } from '../src/index.ts';

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

/** A session to the server, as `account` where one is given. */
export function openSession(server: GithubServer, given: Partial<Connection>, account?: Static<typeof GithubApp>): Promise<TestSession> {
  const connection = connectionOf({ access_token: server.token, enterprise_url: server.url, ...given });
  return openTestSession(githubDestination, connection, { ca: server.ca, account });
}
