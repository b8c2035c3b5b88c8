import { awsClientSettings } from '@strongroom/sync-aws';
import { ConfigurationInvalid, type DestinationHost, type DestinationSession } from '@strongroom/sync-sdk';
import { checkConnection, type AwsSmConnection } from './connection.ts';
import { AwsSmSession } from './session.ts';

/** Loads the SDK at the first use: a server that has no such destination pays nothing for it. */
export async function openAwsSm(connection: AwsSmConnection, host: DestinationHost): Promise<DestinationSession> {
  const [fault] = checkConnection(connection);
  if (fault !== undefined) throw new ConfigurationInvalid(fault);
  const [settings, { SecretsManager }] = await Promise.all([
    awsClientSettings(connection, host),
    import('@aws-sdk/client-secrets-manager'),
  ]);
  return new AwsSmSession(new SecretsManager(settings), connection, host);
}
