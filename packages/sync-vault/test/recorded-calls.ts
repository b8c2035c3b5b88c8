import { openTestSession } from '@strongroom/sync-testkit';
import { vaultDestination } from '../src/index.ts';
import type { PeerDoor } from './peer-door.ts';
import { connectionTo } from './vault-outside.ts';

const never = new AbortController().signal;

/** What the role of `makeCalls` needs at a server. */
export async function prepareServer(door: PeerDoor): Promise<void> {
  const policy = 'path "secret/*" { capabilities = ["create", "read", "update", "delete", "list"] }';
  await door.ask('POST', 'sys/policies/acl/sync', { policy });
  await door.ask('POST', 'sys/auth/approle', { type: 'approle' });
  await door.ask('POST', 'auth/approle/role/sync', { token_policies: 'sync', token_ttl: '1h' });
  await door.ask('POST', 'auth/approle/role/sync/role-id', { role_id: 'recorded-role' });
  await door.ask('POST', 'auth/approle/role/sync/custom-secret-id', { secret_id: 'recorded-secret-id' });
  await door.ask('POST', 'sys/mounts/old', { type: 'kv', options: { version: '1' } });
  await door.ask('POST', 'secret/data/theirs', { data: { theirs: 'x' } });
}

/** What each kind of call comes to: the calls are the same each time, one after the other. */
export async function makeCalls(address: string): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  const noted = async (work: Promise<unknown>): Promise<void> => {
    outcomes.push(await work.then((value) => value ?? null).catch(({ code, message }: Error & { code?: string }) => ({ code, message })));
  };
  const byToken = await openTestSession(vaultDestination, connectionTo(address, { path_prefix: 'team/red' }), { cluster: 'cluster-a' });
  await noted(byToken.read({ name: 'app/web', signal: never }));
  const first = await byToken.write('app/web', '{"user":"shop","port":5432}', {
    fields: { user: 'shop', port: '5432' },
    tags: { team: 'red' },
  });
  const second = await byToken.write('app/web', '{"user":"shop","port":5433}', {
    fields: { user: 'shop', port: '5433' },
    tags: { team: 'red' },
    current: first,
  });
  outcomes.push(first, second);
  await noted(byToken.write('app/web', 'x', { current: first }));
  for await (const secret of byToken.list({ destination: second.mark!.destination, signal: never })) outcomes.push(secret);
  await noted(byToken.remove({ name: 'app/web', current: second, signal: never }));
  await noted(byToken.remove({ name: 'app/web', current: second, signal: never }));
  await byToken.close();

  const role = { token: undefined, role_id: 'recorded-role', secret_id: 'recorded-secret-id' };
  const byRole = await openTestSession(vaultDestination, connectionTo(address, role));
  await noted(byRole.read({ name: 'theirs', signal: never }));
  await noted(byRole.write('theirs', 'ours'));
  await byRole.close();

  for (const more of [{ mount: 'old' }, { mount: 'nowhere' }, { token: 'hvs.wrong' }, { ...role, secret_id: 'wrong' }]) {
    const refused = await openTestSession(vaultDestination, connectionTo(address, more));
    await noted(refused.write('app', 'x'));
    await refused.close();
  }
  return outcomes;
}
