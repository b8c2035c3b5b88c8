import { afterAll, beforeAll } from '@jest/globals';
import { describeWithMoto, startMoto } from '@strongroom/lab';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { destinationCrash } from '../../sync-testkit/test/engine/destination-crash.ts';
import { awsSsmDestination } from '../src/index.ts';
import { connectionTo, SsmOutside } from './ssm-outside.ts';

describeWithMoto('AWS Parameter Store, emulated by moto', () => {
  const outside = new SsmOutside();
  beforeAll(async () => outside.start(await startMoto()), 60_000);
  afterAll(async () => outside.stop());

  destinationCrash({
    plugin: awsSsmDestination as unknown as SyncDestinationPlugin,
    fields: () => {
      const { access_key_id, secret_access_key, region, endpoint } = connectionTo(outside.door.endpoint);
      return { access_key_id, secret_access_key, region, endpoint };
    },
    empty: async () => {
      outside.heal();
      for (const name of (await outside.all()).keys()) await outside.remove(name);
    },
    cutAt: (n, loss, lost) => outside.door.cutAt(n, loss, lost),
    heal: () => outside.heal(),
    standing: async () => [...(await outside.all()).values()].map((value) => JSON.parse(value) as Record<string, unknown>),
  });
});
