import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checked, syncMount, type SyncMount } from './sync-mount.ts';

const AT = 'sys/sync/destinations';
const CALLS = [
  ['read', ''],
  ['update', ''],
  ['patch', ''],
  ['delete', ''],
  ['read', '/associations'],
  ['update', '/associations/set'],
  ['update', '/associations/remove'],
  ['read', '/plan'],
  ['update', '/reconcile'],
] as const;

describe('a policy on one variant of the type of a destination', () => {
  let sync: SyncMount;
  let token: string;
  beforeEach(async () => {
    sync = await syncMount();
    const made = await checked(sync.ask('update', 'auth/token/create', { policies: ['operator'] }));
    token = made.auth!.client_token;
  });
  afterEach(async () => sync.close());

  const grant = async (policy: string): Promise<unknown> => checked(sync.ask('update', 'sys/policies/acl/operator', { policy }));
  const all = 'capabilities = ["create", "read", "update", "patch", "delete", "list"]';

  test.each(CALLS)('holds for a %s of the other: destinations/:type/:name%s', async (operation, below) => {
    for (const denied of ['memory', 'memory-alias']) {
      await grant(`path "${AT}/*" { ${all} } path "${AT}/${denied}/one*" { capabilities = ["deny"] }`);
      for (const type of ['memory', 'memory-alias'])
        expect((await sync.ask(operation, `${AT}/${type}/one${below}`, {}, token)).status).toBe(403);
    }
    expect((await sync.ask('read', `${AT}/memory/one`)).status).toBe(200);
  });

  test('allows the other as well, also where LIST destinations/:type is asked for', async () => {
    await grant(`path "${AT}/memory/*" { ${all} } path "${AT}/memory" { ${all} }`);
    expect((await sync.ask('read', `${AT}/memory-alias/one`, undefined, token)).status).toBe(200);
    expect((await sync.ask('list', `${AT}/memory-alias/`, undefined, token)).data).toMatchObject({ keys: ['one'] });
    await grant(`path "${AT}/*" { ${all} } path "${AT}/memory" { capabilities = ["deny"] }`);
    expect((await sync.ask('list', `${AT}/memory-alias/`, undefined, token)).status).toBe(403);
  });

  test('is shown and stored by the name of the plugin, which is the canonical one', async () => {
    const policy = `path "${AT}/memory-alias/one" { capabilities = ["read"] }`;
    await grant(policy);
    expect((await sync.ask('read', `${AT}/memory/one`, undefined, token)).data).toMatchObject({ type: 'memory', name: 'one' });
    const explained = await sync.ask('update', 'sys/policies/explain', { token, path: `${AT}/memory-alias/one`, operation: 'read' });
    expect(explained.data).toMatchObject({ path: `${AT}/memory/one`, allowed: true });
  });

  test('shows in sys/capabilities and in sys/policies/explain', async () => {
    await grant(`path "${AT}/*" { ${all} } path "${AT}/memory/one" { capabilities = ["deny"] }`);
    const path = `${AT}/memory-alias/one`;
    expect((await sync.ask('update', 'sys/capabilities', { token, path })).data).toMatchObject({ capabilities: ['deny'] });
    expect((await sync.ask('update', 'sys/policies/explain', { token, path })).data).toMatchObject({
      allowed: false,
      rule: { path: `${AT}/memory/one` },
    });
  });
});
