import { randomUUID } from 'node:crypto';
import { type AzureClient, ENTRA_CODES, EntraAuthority, renderEntraRefusal } from './entra-authority.ts';
import { type ProviderAnswer, ProviderRefusal, type RunningServer, startHttpProvider } from './http-server.ts';
import { type KeyVaultPermission, KeyVaultService } from './key-vault-service.ts';
import { KeyVaultStore } from './key-vault-store.ts';
import { createTestCa } from './test-ca.ts';

/** What the Key Vault of the tests is like. */
export interface AzureServerOptions {
  readonly tenantId?: string;
  readonly client?: AzureClient;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Secrets of a page of a list; Key Vault's own is 25. */
  readonly pageSize?: number;
}

/** A token authority and one key vault, on one TLS address. */
export interface AzureServer extends RunningServer {
  readonly tenantId: string;
  readonly client: AzureClient;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  /** The secrets, for tests to look at and to change behind everybody's back. */
  readonly secrets: KeyVaultStore;
  /** What the client may do; the coming calls are held to it. */
  permissions: readonly KeyVaultPermission[];
}

/** Plays Microsoft Entra ID and Azure Key Vault. State lives in memory. */
export async function startAzureServer(options: AzureServerOptions = {}): Promise<AzureServer> {
  const now = options.now ?? Date.now;
  const client = options.client ?? { clientId: randomUUID(), clientSecret: `secret-${randomUUID()}` };
  const tenantId = options.tenantId ?? randomUUID();
  const authority = new EntraAuthority(tenantId, [client], now);
  const secrets = new KeyVaultStore(now);
  const ca = createTestCa();
  const access: { permissions: readonly KeyVaultPermission[] } = { permissions: ['get', 'list', 'set', 'delete', 'recover'] };
  const base: { url: string } = { url: '' };
  const vault = new KeyVaultService(secrets, base, options.pageSize ?? 25);
  const running = await startHttpProvider({
    tls: ca.issue(),
    requestId: () => ['x-ms-request-id', randomUUID()],
    refuse: (refusal) => (ENTRA_CODES in refusal.details ? renderEntraRefusal(refusal, now()) : renderVaultRefusal(refusal)),
    handle: (request) => {
      const identity = authority.handle(request, base.url);
      if (identity !== undefined) return identity;
      const appid = authority.authenticate(request.headers.authorization);
      if (appid === undefined) {
        const answer = renderVaultRefusal(new ProviderRefusal(401, 'Unauthorized', 'AKV10000: Request is missing a Bearer or PoP token.'));
        return { ...answer, headers: { 'www-authenticate': authority.challenge(base.url) } };
      }
      return vault.handle(request, (permission) => {
        if (access.permissions.includes(permission)) return;
        const message = `The user, group or application 'appid=${appid};iss=https://sts.windows.net/${tenantId}/' does not have secrets ${permission} permission on key vault 'test;location=local'.`;
        throw new ProviderRefusal(403, 'Forbidden', message, { details: { innererror: { code: 'AccessDenied' } } });
      });
    },
  });
  base.url = running.url;
  return {
    ...running,
    tenantId,
    client,
    ca: ca.certificate,
    secrets,
    get permissions() {
      return access.permissions;
    },
    set permissions(permissions) {
      access.permissions = permissions;
    },
  };
}

function renderVaultRefusal(refusal: ProviderRefusal): ProviderAnswer {
  return {
    status: refusal.status,
    ...(refusal.retryAfter !== undefined && { headers: { 'retry-after': String(refusal.retryAfter) } }),
    body: { error: { code: refusal.code === '' ? 'InternalServerError' : refusal.code, message: refusal.message, ...refusal.details } },
  };
}
