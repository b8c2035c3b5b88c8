import { ConfigurationInvalid, type DestinationHost, type DestinationSession } from '@strongroom/sync-sdk';
import { checkConnection, targetsOf, type VercelConnection, type VercelOptions } from './connection.ts';
import { VercelSession } from './session.ts';
import { VercelApi } from './vercel-api.ts';

const VERCEL = 'https://api.vercel.com';

export async function openVercel(connection: VercelConnection, host: DestinationHost, options: VercelOptions): Promise<DestinationSession> {
  const [fault] = checkConnection(connection);
  if (fault !== undefined) throw new ConfigurationInvalid(fault);
  const api = new VercelApi({
    endpoint: options.endpoint ?? VERCEL,
    token: connection.access_token,
    projectId: connection.project_id,
    teamId: connection.team_id,
    dispatcher: await host.network.dispatcher(),
  });
  return new VercelSession(api, targetsOf(connection), host, connection.access_token);
}
