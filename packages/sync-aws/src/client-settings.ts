import { ConfigurationInvalid, type DestinationHost } from '@strongroom/sync-sdk';
import type { AwsConnection } from './aws-connection.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const SESSION_NAME = 'strongroom-sync';

/** The settings of a client of the SDK that asks for a destination. Loads what makes credentials: the SDK is loaded by those who use it. */
export async function awsClientSettings(connection: AwsConnection, host: DestinationHost) {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const { fromTemporaryCredentials, fromWebToken } = await import('@aws-sdk/credential-providers');
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
  const stsConfig = { ...common, ...(sts_endpoint === undefined ? {} : { endpoint: sts_endpoint }) };
  const credentials =
    role_arn === undefined
      ? own
      : connection.identity_token_audience !== undefined
        ? async () => {
            const webIdentityToken = await identityToken(connection, host);
            const assume = fromWebToken({ roleArn: role_arn, roleSessionName: SESSION_NAME, webIdentityToken, clientConfig: stsConfig });
            return assume().catch((error: Error) => {
              // Whoever answers in the name of STS may repeat what it was sent.
              error.message = error.message.replaceAll(webIdentityToken, 'the identity token');
              throw error;
            });
          }
        : fromTemporaryCredentials({
            params: { RoleArn: role_arn, RoleSessionName: SESSION_NAME, ...(external_id === undefined ? {} : { ExternalId: external_id }) },
            clientConfig: stsConfig,
            ...(own ? { masterCredentials: own } : {}),
          });
  return {
    ...common,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

/** Seconds. */
const TOKEN_TTL = 3_600;

async function identityToken(
  { identity_token_audience = '', identity_token_key = '', identity_token_ttl = TOKEN_TTL }: AwsConnection,
  host: DestinationHost,
): Promise<string> {
  if (!host.identityToken) throw new ConfigurationInvalid('identity_token_audience: this server has no identity tokens');
  try {
    const { token } = await host.identityToken({ audience: identity_token_audience, key: identity_token_key, ttl: identity_token_ttl });
    return token;
  } catch (error) {
    throw new ConfigurationInvalid(`identity_token_audience: no identity token can be signed: ${(error as Error).message}`);
  }
}
