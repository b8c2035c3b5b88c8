import { afterAll, beforeAll } from '@jest/globals';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { destinationCrash } from '../../sync-testkit/test/engine/destination-crash.ts';
import { vaultDestination } from '../src/index.ts';
import { startStrongroomDoor } from './peers.ts';
import { VaultOutside } from './vault-outside.ts';

const outside = new VaultOutside();
beforeAll(async () => void (outside.door = await startStrongroomDoor()), 120_000);
afterAll(async () => outside.door?.stop());

destinationCrash({
  plugin: vaultDestination as unknown as SyncDestinationPlugin,
  fields: () => ({ address: outside.door.address, token: 'root' }),
  empty: async () => outside.empty(),
  cutAt: (n, loss, lost) => outside.door.cutAt(n, loss, lost),
  heal: () => outside.heal(),
  standing: async () => {
    if (Object.keys(await outside.metadata('kv/web')).length === 0) return [];
    return [(await outside.see('kv/web')) ?? {}];
  },
});
