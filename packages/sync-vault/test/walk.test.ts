import { afterAll, beforeAll } from '@jest/globals';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { destinationWalk } from '../../sync-testkit/test/engine/destination-walk.ts';
import { vaultDestination } from '../src/index.ts';
import { describeOnPeers } from './peers.ts';
import { VaultOutside } from './vault-outside.ts';

describeOnPeers('Secret sync', (start) => {
  const outside = new VaultOutside();
  beforeAll(async () => void (outside.door = await start()), 120_000);
  afterAll(async () => outside.door?.stop());

  destinationWalk({
    plugin: vaultDestination as unknown as SyncDestinationPlugin,
    alias: 'vault',
    fields: () => ({ address: outside.door.address, token: 'root' }),
    shown: () => ({ address: outside.door.address, token: '*****', approle_path: 'approle', mount: 'secret' }),
    credential: 'token',
    allowed: () => ({ allowed_ipv4_addresses: '127.0.0.1/32', allowed_ports: new URL(outside.door.address).port }),
    outside,
    writes: () => outside.door.exchanges.filter(({ method }) => method !== 'GET').length,
    throttledCode: '429',
    empty: async () => {
      outside.heal();
      await outside.empty();
    },
  });
});
