import { type AuthClient, GoogleAuth, Impersonated, JWT } from 'google-auth-library';
import { ClientSideError, type DestinationHost } from '@strongroom/sync-sdk';
import type { GcpSmConnection, GcpSmOptions } from './connection.ts';
import { parseCredentials } from './credentials.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** What a token that we sign ourselves is good for: Secret Manager, and nothing else of Google's. */
export const SECRET_MANAGER = 'secretmanager.googleapis.com';

/** Who calls, and on whose project. */
export interface Caller {
  readonly auth: AuthClient;
  readonly projectId: string;
}

/** Prepares the credentials of a connection. Asks Google, or the machine, only where the application default credentials are used. */
export async function openCaller(connection: GcpSmConnection, host: DestinationHost, options: GcpSmOptions): Promise<Caller> {
  const { credentials, project_id: project, service_account_email: target } = connection;
  const transporterOptions = { agent: host.network.httpsAgent };
  let source: { auth: AuthClient; projectId: string | undefined };
  if (credentials) {
    const key = parseCredentials(credentials);
    const { client_email: email, private_key: privateKey, private_key_id: keyId } = key;
    // A token of another account is asked for with one of our own, which needs a scope; Secret Manager itself takes one that names it.
    const jwt = new JWT({ email, key: privateKey, transporterOptions, ...(keyId && { keyId }), ...(target && { scopes: [SCOPE] }) });
    jwt.defaultServicePath = SECRET_MANAGER;
    source = { auth: jwt, projectId: key.project_id };
  } else {
    source = await openAmbient(project, target !== undefined && target !== '');
  }
  const auth = target
    ? new Impersonated({ sourceClient: source.auth, targetPrincipal: target, targetScopes: [SCOPE], lifetime: 3600, transporterOptions })
    : source.auth;
  for (const client of new Set([source.auth, auth])) onceAndAt(client, options.authority);
  return { auth, projectId: project || source.projectId || '' };
}

/** The application default credentials: a file that a variable names, what gcloud left, or the machine's own account. */
async function openAmbient(
  project: string | undefined,
  toImpersonate: boolean,
): Promise<{ auth: AuthClient; projectId: string | undefined }> {
  const google = new GoogleAuth({ scopes: [SCOPE] });
  google.defaultServicePath = SECRET_MANAGER;
  google.useJWTAccessWithScope = !toImpersonate;
  try {
    return { auth: await google.getClient(), projectId: project || (await google.getProjectId()) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ClientSideError(`credentials are not set, and the server's application default credentials do not work: ${reason}`, {
      providerCode: 'NO_CREDENTIALS',
    });
  }
}

/** No request is tried twice by the library, and the operator's address stands in for Google's. */
function onceAndAt(client: AuthClient, authority: string | undefined): void {
  client.transporter.interceptors.request.add({
    resolved: async (config) => {
      config.retry = false;
      config.retryConfig = { retry: 0, noResponseRetries: 0 };
      if (authority !== undefined) config.url = new URL(config.url.pathname + config.url.search, authority);
      return config;
    },
  });
}
