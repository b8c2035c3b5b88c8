import { killableMount, manualClock, type KillableMount, type TestMount } from '@strongroom/engine-testkit';
import { passwordLogin } from '../../password-login.ts';

export const ISSUER = 'https://vault.example.org:8200';

/** A server whose identity tokens have an issuer, with one person who logs in. */
export async function issuer(): Promise<KillableMount> {
  const mount = await killableMount(passwordLogin('pw'), { clock: manualClock() });
  await answered(mount, 'update', 'identity/oidc/config', { issuer: ISSUER });
  await answered(mount, 'update', 'auth/pw/users/ann', { password: 'p', policies: 'reader' });
  const policy = 'path "identity/oidc/*" { capabilities = ["read", "update"] }';
  await answered(mount, 'update', 'sys/policies/acl/reader', { policy });
  return mount;
}

/** The data of an answer. @throws Error with the texts of a failed call */
export async function answered(
  mount: Pick<TestMount, 'call'>,
  operation: 'read' | 'update' | 'list' | 'delete',
  path: string,
  data: Record<string, unknown> = {},
  token?: string,
): Promise<Record<string, unknown>> {
  const answer = await mount.call(operation, path, { data, ...(token === undefined ? {} : { token }) });
  if (answer.raw) return JSON.parse(answer.raw.body as string) as Record<string, unknown>;
  if (answer.errors) throw new Error(`${path}: ${answer.status} ${answer.errors.join('; ')}`);
  return (answer.data ?? {}) as Record<string, unknown>;
}

/** The token of the person. */
export async function login(mount: Pick<TestMount, 'call'>): Promise<string> {
  const answer = await mount.call('update', 'auth/pw/login/ann', { data: { password: 'p' }, token: '' });
  return answer.auth!.client_token;
}

export async function identityToken(mount: Pick<TestMount, 'call'>, role: string, token: string): Promise<string> {
  return (await answered(mount, 'read', `identity/oidc/token/${role}`, {}, token))['token'] as string;
}

/** Ids of the published keys. */
export async function published(mount: Pick<TestMount, 'call'>): Promise<string[]> {
  const { keys } = await answered(mount, 'read', 'identity/oidc/.well-known/keys', {}, '');
  return (keys as { kid: string }[]).map(({ kid }) => kid);
}

export function keyIdOf(token: string): string {
  return (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;
}

export async function isActive(mount: Pick<TestMount, 'call'>, token: string): Promise<unknown> {
  return (await answered(mount, 'update', 'identity/oidc/introspect', { token }))['active'];
}
