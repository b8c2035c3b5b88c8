import { ConfigurationInvalid, type DestinationHost, type DestinationSession } from '@strongroom/sync-sdk';
import { checkConnection, type AwsSmConnection } from './connection.ts';
import { AwsSmSession } from './session.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const SESSION_NAME = 'strongroom-sync';

/** Loads the SDK at the first use: a server that has no such destination pays nothing for it. */
export async function openAwsSm(connection: AwsSmConnection, host: DestinationHost): Promise<DestinationSession> {
  const [fault] = checkConnection(connection);
  if (fault !== undefined) throw new ConfigurationInvalid(fault);
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const [{ SecretsManager }, { fromTemporaryCredentials }] = await Promise.all([
    import('@aws-sdk/client-secrets-manager'),
    import('@aws-sdk/credential-providers'),
  ]);
  const { access_key_id, secret_access_key, region, role_arn, external_id, endpoint, sts_endpoint } = connection;
  const { httpAgent, httpsAgent } = host.network;
  const common = {
    // Retries are the host's business.
    maxAttempts: 1,
    requestHandler: { httpAgent, httpsAgent, connectionTimeout: CONNECT_TIMEOUT_MS },
    ...(region === undefined ? {} : { region }),
  };
  const own =
    access_key_id === undefined || secret_access_key === undefined
      ? undefined
      : { accessKeyId: access_key_id, secretAccessKey: secret_access_key };
  const credentials =
    role_arn === undefined
      ? own
      : fromTemporaryCredentials({
          params: { RoleArn: role_arn, RoleSessionName: SESSION_NAME, ...(external_id === undefined ? {} : { ExternalId: external_id }) },
          clientConfig: { ...common, ...(sts_endpoint === undefined ? {} : { endpoint: sts_endpoint }) },
          ...(own ? { masterCredentials: own } : {}),
        });
  const client = new SecretsManager({
    ...common,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  });
  return new AwsSmSession(client, connection, host);
}
