import type { IAMClient, IAMClientConfig } from '@aws-sdk/client-iam';
import type { STSClient, STSClientConfig } from '@aws-sdk/client-sts';
import type { AccessKey, AssumedRole, CloudSettings } from '../cloud-provider.ts';
import { assumedRoleCredentials } from './assumed-role-credentials.ts';
import { codeOf, isThrottling } from './aws-faults.ts';
import { loadAwsSdk, type AwsSdk } from './aws-sdk.ts';
import { FallbackSts } from './fallback-sts.ts';
import { webIdentityCredentials } from './web-identity-credentials.ts';

/** Milliseconds. */
const CONNECTING = 5_000;
const ANSWERING = 30_000;
/** Where there is another place to ask. */
const MOVING_ON = 10_000;
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
  readonly sts: FallbackSts;
  /** As somebody else; to be destroyed by the caller. */
  stsAs(key: AccessKey): FallbackSts;
  /** Of all clients but those of `stsAs`. */
  destroy(): void;
}

type Strategy = Awaited<ReturnType<IAMClient['config']['retryStrategy']>> & {
  acquireInitialRetryToken(scope: string): Promise<never>;
  refreshRetryTokenForRetry(token: never, info: { error?: unknown }): Promise<never>;
  recordSuccess(token: never): void;
};

/** `role`: the clients work as this role, which the credential of the settings assumes. */
export async function openClients(settings: CloudSettings, role?: AssumedRole): Promise<AwsClients> {
  const sdk = await loadAwsSdk();
  const { iam_endpoint, max_retries } = settings;
  const region = regionOf(settings.region);
  const maxAttempts = max_retries < 0 ? ATTEMPTS : max_retries + 1;
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
  const placesOf = stsPlaces(settings, region);
  const stsAt = (credentials: Credentials): FallbackSts =>
    new FallbackSts(
      placesOf.map((place, i) => {
        // Whatever comes after it must have time left.
        const patience =
          i < placesOf.length - 1
            ? { retryStrategy: paced(standard, () => false), requestHandler: { ...common.requestHandler, requestTimeout: MOVING_ON } }
            : {};
        return new sdk.sts.STSClient({ ...common, ...place, ...patience, credentials });
      }) as [STSClient, ...STSClient[]],
      placesOf.map(({ endpoint, region }) => endpoint ?? `STS of ${region}`),
    );
  // An identity token takes the place of a signature.
  const unsigned = settings.webIdentity && stsAt(credentialsOf({ access_key: 'none', secret_key: 'none' }));
  const own = await rootCredentials(settings, { sdk, region, unsigned });
  const assuming = role && stsAt(own);
  const credentials = role && assuming ? assumedRoleCredentials(role, { sdk, sts: assuming }) : own;
  const iamConfig = { ...common, credentials, ...(iam_endpoint === '' ? {} : { endpoint: iam_endpoint }) };
  const clients = {
    iam: new sdk.iam.IAMClient(iamConfig),
    iamOnce: new sdk.iam.IAMClient({ ...iamConfig, retryStrategy: paced(standard, isThrottling) }),
    sts: stsAt(credentials),
  };
  return {
    ...clients,
    stsAs: (key) => stsAt(credentialsOf(key)),
    destroy: () => {
      for (const client of [...Object.values(clients), unsigned, assuming]) client?.destroy();
    },
  };
}

type Credentials = NonNullable<STSClientConfig['credentials']>;

/** Where STS is asked, in this order. */
function stsPlaces({ sts_endpoint, sts_region, sts_fallback_endpoints, sts_fallback_regions }: CloudSettings, region: string) {
  const first: { region: string; endpoint?: string } = {
    region: sts_region || region,
    ...(sts_endpoint === '' ? {} : { endpoint: sts_endpoint }),
  };
  return [first, ...sts_fallback_endpoints.map((endpoint, i) => ({ endpoint, region: sts_fallback_regions[i]! }))];
}

/** As whom the mount works. */
async function rootCredentials(
  { accessKey, webIdentity }: CloudSettings,
  { sdk, region, unsigned }: { sdk: AwsSdk; region: string; unsigned: FallbackSts | undefined },
): Promise<Credentials> {
  if (accessKey) return credentialsOf(accessKey);
  if (webIdentity && unsigned) return webIdentityCredentials(webIdentity, { sdk, sts: unsigned });
  return foundCredentials(region);
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
