import { createPrivateKey, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rsaKeyPair, startKubernetesApi } from '@strongroom/lab';
import { startMemoryServer } from './memory-server.ts';

/** A server with the login methods of programs, each with an account whose tokens may read `secret/app`. */
export interface ClientLab {
  readonly address: string;
  readonly approle: { readonly roleId: string; readonly secretId: string; readonly wrappedSecretId: string };
  readonly userpass: { readonly username: string; readonly password: string };
  readonly jwt: { readonly role: string; readonly token: string; readonly publicKey: string };
  readonly kubernetes: { readonly role: string; readonly token: string; readonly tokenFile: string };
  stop(): Promise<void>;
}

/** Starts the server, with root token `root`, and an emulated API server of Kubernetes. */
export async function startClientLab(): Promise<ClientLab> {
  const { server, address } = await startMemoryServer();
  const api = await startKubernetesApi();
  const folder = await mkdtemp(join(tmpdir(), 'clients-'));
  const call = async (method: string, path: string, body?: object, headers = {}): Promise<Reply> => {
    const request = { method, headers: { 'X-Vault-Token': 'root', ...headers }, ...(body ? { body: JSON.stringify(body) } : {}) };
    const reply = await fetch(`${address}/v1/${path}`, request);
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Reply;
  };
  const token = { token_policies: 'reader', token_ttl: '1h' };

  await call('POST', 'secret/data/app', { data: { a: '1' } });
  await call('PUT', 'sys/policies/acl/reader', { policy: 'path "secret/data/app" { capabilities = ["read"] }' });
  for (const type of ['approle', 'userpass', 'jwt', 'kubernetes']) await call('POST', `sys/auth/${type}`, { type });

  await call('POST', 'auth/approle/role/app', token);
  const roleId = (await call('GET', 'auth/approle/role/app/role-id')).data['role_id'] as string;
  const secretId = (await call('POST', 'auth/approle/role/app/secret-id', {})).data['secret_id'] as string;
  const wrapped = await call('POST', 'auth/approle/role/app/secret-id', {}, { 'X-Vault-Wrap-TTL': '60' });

  const userpass = { username: 'ada', password: 'correct horse battery staple' };
  await call('POST', 'auth/userpass/users/ada', { ...token, password: userpass.password });

  const keys = rsaKeyPair();
  const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' }) as string;
  await call('POST', 'auth/jwt/config', { jwt_validation_pubkeys: [publicKey] });
  await call('POST', 'auth/jwt/role/app', { ...token, role_type: 'jwt', user_claim: 'sub', bound_audiences: 'strongroom' });
  const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

  const config = { kubernetes_host: api.url, kubernetes_ca_cert: api.ca, token_reviewer_jwt: api.reviewer };
  await call('POST', 'auth/kubernetes/config', config);
  const bounds = { bound_service_account_names: 'app', bound_service_account_namespaces: 'default', audience: 'strongroom' };
  await call('POST', 'auth/kubernetes/role/app', { ...token, ...bounds });
  const tokenFile = join(folder, 'token');
  const serviceAccount = api.issue({ audiences: ['strongroom'] });
  await writeFile(tokenFile, serviceAccount);

  return {
    address,
    approle: { roleId, secretId, wrappedSecretId: wrapped.wrap_info!.token },
    userpass,
    jwt: { role: 'app', token: signed({ sub: 'ada', aud: 'strongroom' }, privateKey), publicKey },
    kubernetes: { role: 'app', token: serviceAccount, tokenFile },
    stop: async () => {
      await server.stop();
      await api.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Reply {
  readonly data: Readonly<Record<string, unknown>>;
  readonly wrap_info?: { readonly token: string } | null;
}

/** A token of ten minutes. */
function signed(claims: object, privateKey: string): string {
  const now = Math.floor(Date.now() / 1_000);
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iat: now, exp: now + 600, ...claims })}`;
  return `${text}.${sign('sha256', Buffer.from(text), createPrivateKey(privateKey)).toString('base64url')}`;
}
