import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { syncDestinationContract } from '@strongroom/sync-testkit';
import { vaultDestination } from '../src/index.ts';
import { describeOnPeers } from './peers.ts';
import { connectionTo, VaultOutside } from './vault-outside.ts';

describeOnPeers('Key-value secrets', (start) => {
  const outside = new VaultOutside();
  beforeAll(async () => void (outside.door = await start()), 120_000);
  afterAll(async () => outside.door?.stop());

  syncDestinationContract(
    { describe, test: (name, body) => test(name, body, 60_000) },
    {
      plugin: vaultDestination,
      config: () => connectionTo(outside.door.address),
      outside,
      malformed: (good) => ({ ...good, address: '127.0.0.1:8200' }),
      unreachable: (good) => ({ ...good, address: 'http://127.0.0.1:1' }),
      wrongCredentials: (good) => ({ ...good, token: 'hvs.wrong-token' }),
      skip: [
        {
          test: 'a soft-deleted name is recovered and then set',
          reason: 'a deleted version leaves its secret there, which then differs as after any foreign edit',
        },
      ],
    },
  );
});
