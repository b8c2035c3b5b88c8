import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core, CoreRequest, CoreResponse } from '../src/index.ts';

describe('a core over memory', () => {
  let core: Core;
  const call = async (
    operation: CoreRequest['operation'],
    path: string,
    data?: Record<string, unknown>,
    token = 'root',
    wrapTtl = 0,
  ): Promise<CoreResponse> => core.handle({ operation, path, token, wrapTtl, ...(data ? { data } : {}) });

  beforeEach(async () => {
    core = await checkedCore({ storage: memoryStorage(), devRootToken: 'root' });
  });
  afterEach(async () => core.close());

  test('declares what every operation answers', () => {
    const silent = core
      .declaredPaths()
      .flatMap(({ prefix, paths }) =>
        paths.flatMap(({ pattern, operations: { exists: _exists, ...operations } }) =>
          Object.entries(operations).flatMap(([name, op]) => (op.response ? [] : [`${name} ${prefix}${pattern}`])),
        ),
      );
    expect(silent).toEqual([]);
  });

  test('shows the built-in mounts', async () => {
    const answer = await call('read', 'sys/mounts');
    expect(Object.keys(answer.data as object).sort()).toEqual(['cubbyhole/', 'identity/', 'sys/']);
    expect(answer.flattened).toBe(true);
  });

  test('makes, looks up, renews and revokes a child token', async () => {
    await call('update', 'sys/policies/acl/dev', { policy: 'path "cubbyhole/*" { capabilities = ["read"] }' });
    const made = await call('update', 'auth/token/create', { policies: ['dev'], ttl: '1h' });
    expect(made.errors).toBeUndefined();
    const token = made.auth!.client_token;
    expect(made.auth!.policies).toEqual(['default', 'dev']);
    const looked = await call('read', 'auth/token/lookup-self', undefined, token);
    expect(looked.data).toMatchObject({ ttl: 3600, policies: ['default', 'dev'], orphan: false });
    expect((await call('update', 'auth/token/renew-self', { increment: '2h' }, token)).auth!.lease_duration).toBe(7200);
    expect((await call('read', 'sys/mounts', undefined, token)).status).toBe(403);
    expect((await call('update', 'auth/token/revoke', { token })).status).toBe(204);
    expect((await call('read', 'auth/token/lookup-self', undefined, token)).status).toBe(403);
  });

  test('wraps an answer once', async () => {
    await call('update', 'cubbyhole/a', { x: '1' });
    const wrapped = await call('read', 'cubbyhole/a', undefined, 'root', 60);
    const { token } = wrapped.wrapInfo!;
    const opened = await call('update', 'sys/wrapping/unwrap', undefined, token);
    expect(opened.data).toEqual({ x: '1' });
    expect((await call('update', 'sys/wrapping/unwrap', { token }, '')).errors).toEqual(['wrapping token is not valid or does not exist']);
  });

  test('answers an unknown mount with 404 for root and 403 without a token', async () => {
    expect((await call('read', 'nope/x')).errors).toEqual(['no handler for route "nope/x". route entry not found.']);
    expect((await call('read', 'nope/x', undefined, '')).status).toBe(403);
  });

  test('is sealed and unsealed with shares', async () => {
    const storage = memoryStorage();
    const other = await checkedCore({ storage });
    expect((await other.handle({ operation: 'read', path: 'sys/health' })).status).toBe(501);
    const made = await other.initialize({ secretShares: 3, secretThreshold: 2, recoveryShares: undefined, recoveryThreshold: undefined });
    expect((await other.handle({ operation: 'read', path: 'sys/mounts', token: made.rootToken })).errors).toEqual(['Vault is sealed']);
    await other.unseal(made.keys[2]!);
    expect(other.sealed).toBe(true);
    await other.unseal(made.keys[0]!);
    expect(other.sealed).toBe(false);
    expect((await other.handle({ operation: 'read', path: 'sys/mounts', token: made.rootToken })).status).toBe(200);
    await other.close();
  });
});
