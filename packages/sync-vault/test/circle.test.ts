import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PeerDoor } from './peer-door.ts';
import { startStrongroomDoor } from './peers.ts';

interface Entry {
  readonly secret_name: string;
  readonly sync_status: string;
  readonly remote_name?: string;
  readonly last_error?: { readonly message: string };
}

/** Links a secret of `from` with a new destination, and resolves with what came of it. */
async function link(from: PeerDoor, to: PeerDoor, { secret, mount }: { secret: string; mount: string }): Promise<Entry | undefined> {
  const at = 'sys/sync/destinations/vault/there';
  await from.ask('POST', at, { address: to.address, token: 'root', mount, disable_strict_networking: true });
  await from.ask('POST', `${at}/associations/set`, { mount: 'secret', secret_name: secret, wait: '20s' });
  for (let tries = 0; ; tries += 1) {
    const { associated_secrets: all } = await from.ask('GET', `${at}/associations`);
    const entry = Object.values(all as Record<string, Entry>).find(({ secret_name }) => secret_name === secret);
    if (tries === 5_000 || !entry || !['PENDING', 'SYNCING'].includes(entry.sync_status)) return entry;
  }
}

describe('Servers that copy to each other', () => {
  let here: PeerDoor;
  let there: PeerDoor;
  beforeAll(async () => {
    [here, there] = await Promise.all([startStrongroomDoor(), startStrongroomDoor()]);
    await here.ask('POST', 'sys/mounts/copies', { type: 'kv', options: { version: '2' } });
    await here.ask('POST', 'secret/data/app', { data: { user: 'shop', port: 5432 } });
  }, 120_000);
  afterAll(async () => {
    await here?.stop();
    await there?.stop();
  });

  test('a destination that is the server itself is refused, and nothing is copied', async () => {
    expect(await link(here, here, { secret: 'app', mount: 'copies' })).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: { message: expect.stringContaining('address is that of this very server') },
    });
    expect(await here.ask('GET', 'copies/metadata?list=true')).toEqual({});
    await here.ask('DELETE', 'sys/sync/destinations/vault/there?force_delete=true&purge=true');
  });

  test('a copy in another server is not copied back, and says where it comes from', async () => {
    expect(await link(here, there, { secret: 'app', mount: 'secret' })).toMatchObject({
      sync_status: 'SYNCED',
      remote_name: 'secret/app',
    });
    expect(await there.ask('GET', 'secret/data/secret/app')).toMatchObject({ data: { user: 'shop', port: 5432 } });
    const { cluster_id: cluster } = (await (await fetch(`${here.address}/v1/sys/health`)).json()) as { cluster_id: string };
    expect(await there.ask('GET', 'secret/metadata/secret/app')).toMatchObject({ custom_metadata: { 'strongroom-origin': cluster } });
    expect(await link(there, here, { secret: 'secret/app', mount: 'copies' })).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: { message: expect.stringContaining('does not copy in circles') },
    });
    expect(await here.ask('GET', 'copies/metadata?list=true')).toEqual({});
  });

  test('a secret of the other server that is no copy goes the other way', async () => {
    await there.ask('POST', 'secret/data/own', { data: { a: '1' } });
    expect(await link(there, here, { secret: 'own', mount: 'copies' })).toMatchObject({ sync_status: 'SYNCED' });
    expect(await here.ask('GET', 'copies/data/secret/own')).toMatchObject({ data: { a: '1' } });
  });
});
