import { ClientSecretCredential, type ClientSecretCredentialOptions, DefaultAzureCredential, type TokenCredential } from '@azure/identity';
import { SecretClient, type SecretClientOptions } from '@azure/keyvault-secrets';
import { ConfigurationInvalid, type DestinationHost, type DestinationSession } from '@strongroom/sync-sdk';
import { AuthorityWatch } from './authority-watch.ts';
import { findCloud } from './clouds.ts';
import { type AzureKvConnection, type AzureKvOptions, checkConnection } from './connection.ts';
import { AzureKvSession } from './session.ts';

/** Retries and redirects are the host's business. */
const ONCE = { retryOptions: { maxRetries: 0 }, redirectOptions: { maxRetries: 0 } } as const;

export async function openAzureKv(
  connection: AzureKvConnection,
  host: DestinationHost,
  options: AzureKvOptions,
): Promise<DestinationSession> {
  const [fault] = checkConnection(connection, options);
  if (fault !== undefined) throw new ConfigurationInvalid(fault);
  const authority = new AuthorityWatch();
  const client = new SecretClient(connection.key_vault_uri, credential(connection, host, options, authority), {
    ...ONCE,
    agent: host.network.httpsAgent,
    additionalPolicies: trusting(options.ca),
    ...(options.disableChallengeResourceVerification !== undefined && {
      disableChallengeResourceVerification: options.disableChallengeResourceVerification,
    }),
  } satisfies SecretClientOptions);
  return new AzureKvSession(client, host, authority, connection.client_secret);
}

function credential(
  connection: AzureKvConnection,
  host: DestinationHost,
  options: AzureKvOptions,
  authority: AuthorityWatch,
): TokenCredential {
  const { tenant_id: tenantId, client_id: clientId, client_secret: clientSecret } = connection;
  const shared = {
    ...ONCE,
    authorityHost: options.authorityHost ?? findCloud(connection.cloud)!.authorityHost,
    ...(options.disableInstanceDiscovery !== undefined && { disableInstanceDiscovery: options.disableInstanceDiscovery }),
  };
  if (clientSecret !== undefined && clientSecret !== '') {
    const guarded: ClientSecretCredentialOptions & { agent: unknown } = {
      ...shared,
      agent: host.network.httpsAgent,
      additionalPolicies: [{ policy: authority, position: 'perCall' }, ...trusting(options.ca)],
    };
    return new ClientSecretCredential(tenantId, clientId, clientSecret, guarded);
  }
  // The chain asks the machine it runs on (a link-local address, a file, a variable), which the guard would refuse: what it may reach is the
  // operator's doing, and nothing of the destination.
  return new DefaultAzureCredential({
    ...shared,
    tenantId,
    managedIdentityClientId: clientId,
    workloadIdentityClientId: clientId,
    additionalPolicies: trusting(options.ca),
  });
}

/** Requests that trust these authorities, whichever agent they go through. */
function trusting(ca: string | undefined): NonNullable<SecretClientOptions['additionalPolicies']> {
  if (ca === undefined) return [];
  const policy: NonNullable<SecretClientOptions['additionalPolicies']>[number]['policy'] = {
    name: 'trusting',
    sendRequest: async (request, next) => {
      request.requestOverrides = { ...request.requestOverrides, ca };
      return await next(request);
    },
  };
  return [{ policy, position: 'perCall' }];
}
