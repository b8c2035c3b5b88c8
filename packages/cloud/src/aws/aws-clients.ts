import type { IAMClient, IAMClientConfig } from '@aws-sdk/client-iam';
import type { STSClient } from '@aws-sdk/client-sts';
import type { AccessKey, CloudSettings } from '../cloud-provider.ts';
import { codeOf, isThrottling } from './aws-faults.ts';
import { loadAwsSdk } from './aws-sdk.ts';

/** Milliseconds. */
const CONNECTING = 5_000;
const ANSWERING = 30_000;
/** More than requests come at once, so that none waits for another. */
const SOCKETS = 512;
/** The SDK's default number of attempts for a call. */
const ATTEMPTS = 3;

/** AWS_REGION, then AWS_DEFAULT_REGION, then us-east-1. */
export function regionOf(configured: string, env: Readonly<Record<string, string | undefined>> = process.env): string {
  return configured || env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1';
}

export interface AwsClients {
  readonly iam: IAMClient;
  /** Sends again only what AWS said it did not do. */
  readonly iamOnce: IAMClient;
  readonly sts: STSClient;
  /** As somebody else. */
  stsAs(key: AccessKey): STSClient;
}

type Strategy = Awaited<ReturnType<IAMClient['config']['retryStrategy']>> & {
  acquireInitialRetryToken(scope: string): Promise<never>;
  refreshRetryTokenForRetry(token: never, info: { error?: unknown }): Promise<never>;
  recordSuccess(token: never): void;
};

export async function openClients(settings: CloudSettings): Promise<AwsClients> {
  const sdk = await loadAwsSdk();
  const { accessKey, iam_endpoint, sts_endpoint, max_retries } = settings;
  const region = regionOf(settings.region);
  const maxAttempts = max_retries < 0 ? ATTEMPTS : max_retries + 1;
  const credentials = accessKey ? credentialsOf(accessKey) : await foundCredentials(region);
  const standard = (await new sdk.iam.IAMClient({ region, maxAttempts }).config.retryStrategy()) as Strategy;
  const common = {
    region,
    requestHandler: {
      connectionTimeout: CONNECTING,
      requestTimeout: ANSWERING,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: SOCKETS },
    },
    maxAttempts,
    retryStrategy: paced(standard, () => true),
  };
  const iamConfig = { ...common, credentials, ...(iam_endpoint === '' ? {} : { endpoint: iam_endpoint }) };
  const stsConfig = { ...common, ...(sts_endpoint === '' ? {} : { endpoint: sts_endpoint }) };
  return {
    iam: new sdk.iam.IAMClient(iamConfig),
    iamOnce: new sdk.iam.IAMClient({ ...iamConfig, retryStrategy: paced(standard, isThrottling) }),
    sts: new sdk.sts.STSClient({ ...stsConfig, credentials }),
    stsAs: (key) => new sdk.sts.STSClient({ ...stsConfig, credentials: credentialsOf(key) }),
  };
}

/** The SDK's pace, which follows Retry-After, but not for limits that waiting does not lift, and not for what `again` excludes. */
function paced(standard: Strategy, again: (error: unknown) => boolean): NonNullable<IAMClientConfig['retryStrategy']> {
  const strategy = {
    mode: 'standard',
    acquireInitialRetryToken: async (scope: string) => standard.acquireInitialRetryToken(scope),
    refreshRetryTokenForRetry: async (token: never, info: { error?: unknown }) => {
      // The SDK takes LimitExceeded for throttling, which it is with other services.
      if (codeOf(info.error) === 'LimitExceeded' || !again(info.error)) throw new Error('not to be sent again');
      return standard.refreshRetryTokenForRetry(token, info);
    },
    recordSuccess: (token: never) => standard.recordSuccess(token),
  };
  return strategy as NonNullable<IAMClientConfig['retryStrategy']>;
}

/** Environment, shared files, role of the container or the machine, in this order; the SDK's own chain would ask AWS_PROFILE before the keys. */
async function foundCredentials(region: string) {
  const { createCredentialChain, fromEnv, fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  return createCredentialChain(fromEnv(), fromNodeProviderChain({ clientConfig: { region } }));
}

function credentialsOf({ access_key, secret_key }: AccessKey): { accessKeyId: string; secretAccessKey: string } {
  return { accessKeyId: access_key, secretAccessKey: secret_key };
}
