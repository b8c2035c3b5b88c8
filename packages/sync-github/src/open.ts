import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { ClientSideError, ConfigurationInvalid, type DestinationHost, type DestinationSession } from '@strongroom/sync-sdk';
import { fetch, type RequestInit } from 'undici';
import { appKey, type GithubApp } from './app.ts';
import { apiAddress, checkConnection, type GithubConnection, type GithubOptions } from './connection.ts';
import { placeOf } from './places.ts';
import { GithubSession } from './session.ts';

export async function openGithub(
  connection: GithubConnection,
  host: DestinationHost<GithubApp>,
  options: GithubOptions,
): Promise<DestinationSession> {
  const [fault] = checkConnection(connection);
  if (fault !== undefined) throw new ConfigurationInvalid(fault);
  const github = new Octokit({
    ...authentication(connection, host.account),
    baseUrl: apiAddress(connection.enterprise_url, options),
    userAgent: 'strongroom-sync',
    log: { debug: () => {}, info: () => {}, error: () => {}, warn: (message: string) => host.log.warn(message) },
    request: { fetch: guardedFetch(host) },
  });
  return new GithubSession(placeOf(github, connection), host, [connection.access_token, host.account?.private_key]);
}

function authentication(connection: GithubConnection, app: GithubApp | undefined): object {
  if (connection.access_token) return { auth: connection.access_token };
  if (app === undefined) throw new ConfigurationInvalid(`there is no GitHub App "${connection.app_name}" under sys/sync/github-apps`);
  return {
    authStrategy: createAppAuth,
    auth: { appId: app.app_id, privateKey: appKey(app), installationId: connection.installation_id },
  };
}

/** Through the guard, and without following redirects: a token is for the address it was given for. */
function guardedFetch({ network }: DestinationHost<GithubApp>) {
  return async (url: string, init: RequestInit): Promise<unknown> => {
    const answer = await fetch(url, { ...init, dispatcher: await network.dispatcher(), redirect: 'manual' });
    if (answer.status < 300 || answer.status >= 400) return answer;
    throw new ClientSideError('the repository or organization has another name now: GitHub leads elsewhere', {
      providerCode: String(answer.status),
      requestId: answer.headers.get('x-github-request-id') ?? undefined,
    });
  };
}
