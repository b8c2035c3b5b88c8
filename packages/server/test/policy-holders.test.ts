import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCore, type Core } from '@strongroom/core';
import { ask } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import { offeredPlugins } from '../src/plugins/plugin-list.ts';

/** A write for each kind of thing that gives policies; the policy is `dev` throughout. */
const WRITES: readonly [method: string, path: string, body: Record<string, unknown>][] = [
  ['approle', 'role/web', { token_policies: 'dev' }],
  ['userpass', 'users/ann', { password: 'long-enough-password', token_policies: 'dev' }],
  ['kubernetes', 'role/web', { bound_service_account_names: 'a', bound_service_account_namespaces: 'b', token_policies: 'dev' }],
  ['jwt', 'role/web', { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'a', token_policies: 'dev' }],
  [
    'jwt',
    'role/teams',
    { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'a', token_policies: 'd{{.team}}', token_policies_template_claims: true },
  ],
  ['ldap', 'config', { url: 'ldap://127.0.0.1:1', token_policies: 'dev' }],
  ['ldap', 'groups/builders', { policies: 'dev' }],
  ['ldap', 'users/ann', { policies: 'dev' }],
];

describe('who has a policy', () => {
  let core: Core;
  const root = async (call: string, body?: Record<string, unknown>) => ask(core, call, { token: 'root', body });

  beforeAll(async () => {
    core = await createCore({ storage: memoryStorage(), plugins: (await offeredPlugins()).installed, devRootToken: 'root' });
    await root('PUT sys/policies/acl/dev', { policy: 'path "secret/*" { capabilities = ["read"] }' });
    for (const method of new Set(WRITES.map(([one]) => one))) await root(`POST sys/auth/${method}`, { type: method });
    for (const [method, path, body] of WRITES) {
      const { status, errors } = await root(`POST auth/${method}/${path}`, body);
      expect([path, status, errors]).toEqual([path, expect.any(Number), undefined]);
    }
  });
  afterAll(async () => core.close());

  test('sees every login method of the server', async () => {
    const { data, warnings } = await root('POST sys/policies/who', { path: 'secret/x' });
    expect(warnings).toBeNull();
    const { holders } = data as { holders: { kind: string; path: string; effect: string }[] };
    expect(holders.map(({ kind, path, effect }) => `${kind} ${path} ${effect}`)).toEqual([
      'role auth/approle/role/web allows',
      'role auth/jwt/role/teams depends',
      'role auth/jwt/role/web allows',
      'role auth/kubernetes/role/web allows',
      'config auth/ldap/config allows',
      'group auth/ldap/groups/builders allows',
      'user auth/ldap/users/ann allows',
      'user auth/userpass/users/ann allows',
    ]);
    const found = [];
    for (let after: unknown; ;) {
      const page = (await root('POST sys/policies/who', { path: 'secret/x', limit: 1, ...(after ? { after } : {}) })).data as Record<
        string,
        unknown
      >;
      found.push(...(page['holders'] as { path: string }[]).map(({ path }) => path));
      after = page['next'];
      if (after === undefined) break;
    }
    expect(found).toEqual(holders.map(({ path }) => path));
  });
});
