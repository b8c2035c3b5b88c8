import { awsClientSettings } from '@strongroom/sync-aws';
import { ConfigurationInvalid, type DestinationHost, type DestinationSession } from '@strongroom/sync-sdk';
import { checkConnection, type AwsSsmConnection } from './connection.ts';
import { AwsSsmSession } from './session.ts';

/** Loads the SDK at the first use: a server that has no such destination pays nothing for it. */
export async function openAwsSsm(connection: AwsSsmConnection, host: DestinationHost): Promise<DestinationSession> {
  const [fault] = checkConnection(connection);
  if (fault !== undefined) throw new ConfigurationInvalid(fault);
  const [settings, { SSM }] = await Promise.all([awsClientSettings(connection, host), import('@aws-sdk/client-ssm')]);
  return new AwsSsmSession(new SSM(settings), connection, host);
}
