import type { BenchServer } from './bench-server.ts';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Figures, type Operation, type Target } from './load.ts';

const ROLES = 50;

export interface AppRoleFigures {
  /** By secret ids without a limit of uses: a durable token with its lease, and nothing else that is written. */
  readonly login: Figures;
  /** By secret ids of one use, made before: the commit of the token deletes the secret id too. */
  readonly lastUse: Figures;
}

/** Logins over HTTP by role id and secret id, of 50 roles in turn. */
export async function appRoleLogins({ target }: BenchServer, seconds: number): Promise<AppRoleFigures> {
  await once(target, 'POST', '/v1/sys/auth/approle', { type: 'approle' });
  const roles = await Promise.all(Array.from({ length: ROLES }, async (_, i) => role(target, `role${i}`)));
  const texts = await Promise.all(roles.map(async ({ name, id }) => loginText(id, await secretId(target, name, 0))));
  const operation: Operation = async (connection, random) => repeat(texts[Math.floor(random() * ROLES)]!)(connection, random);
  await load('warm up', target, operation, { count: 5_000 });
  const login = await load('approle login', target, operation, { seconds });
  const single: string[] = [];
  for (let i = 0; i < Math.round(login.perSecond * seconds); i += 1) {
    const { name, id } = roles[i % ROLES]!;
    single.push(loginText(id, await secretId(target, name, 1)));
  }
  let next = 0;
  const lastUse = await load('  of one use', target, async (connection, random) => repeat(single[next++]!)(connection, random), {
    count: single.length,
  });
  return { login, lastUse };
}

async function role(target: Target, name: string): Promise<{ readonly name: string; readonly id: string }> {
  await once(target, 'POST', `/v1/auth/approle/role/${name}`, { token_policies: 'dev', token_ttl: '1h' });
  const { json } = await once(target, 'GET', `/v1/auth/approle/role/${name}/role-id`);
  return { name, id: (json['data'] as unknown as { role_id: string }).role_id };
}

async function secretId(target: Target, name: string, uses: number): Promise<string> {
  const { json } = await once(target, 'POST', `/v1/auth/approle/role/${name}/secret-id`, { num_uses: uses });
  return (json['data'] as unknown as { secret_id: string }).secret_id;
}

function loginText(role_id: string, secret_id: string): string {
  return requestText('POST', '/v1/auth/approle/login', '', JSON.stringify({ role_id, secret_id }));
}
