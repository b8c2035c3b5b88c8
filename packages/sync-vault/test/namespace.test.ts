import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere, openbaoMissing } from '@strongroom/lab';
import { openTestSession } from '@strongroom/sync-testkit';
import { vaultDestination } from '../src/index.ts';
import type { PeerDoor } from './peer-door.ts';
import { startOpenbaoDoor } from './peers.ts';
import { connectionTo } from './vault-outside.ts';

describeWhere(openbaoMissing(), 'A namespace of OpenBao', () => {
  let door: PeerDoor;
  beforeAll(async () => void (door = await startOpenbaoDoor()), 60_000);
  afterAll(async () => door?.stop());

  test('holds the copies and the login of a destination that names it', async () => {
    await door.ask('POST', 'sys/namespaces/team', {});
    await door.ask('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }, 'team');
    await door.ask('POST', 'sys/policies/acl/sync', { policy: 'path "kv/*" { capabilities = ["create", "read", "update"] }' }, 'team');
    await door.ask('POST', 'sys/auth/approle', { type: 'approle' }, 'team');
    await door.ask('POST', 'auth/approle/role/sync', { token_policies: 'sync' }, 'team');
    await door.ask('POST', 'auth/approle/role/sync/role-id', { role_id: 'sync-role' }, 'team');
    const { secret_id } = await door.ask('POST', 'auth/approle/role/sync/secret-id', {}, 'team');
    const role = { token: undefined, role_id: 'sync-role', secret_id: String(secret_id) };
    const session = await openTestSession(vaultDestination, connectionTo(door.address, { ...role, mount: 'kv', namespace: 'team/' }));
    try {
      await session.write('app', 'x');
      expect(await door.ask('GET', 'kv/data/app', undefined, 'team')).toMatchObject({ data: { value: 'x' } });
      const { requests } = door;
      await session.read({ name: 'app', signal: new AbortController().signal });
      expect(door.requests).toBe(requests + 1);
    } finally {
      await session.close();
    }
  });
});
