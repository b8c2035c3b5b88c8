import { expect, test } from '@jest/globals';
import { startTransit } from '../../../seal-transit/test/transit-server.ts';
import { walkUnderSeal } from './seal-walk.ts';

test('a server lives under a seal of the type transit', async () => {
  const transit = await startTransit(['unseal']);
  try {
    await walkUnderSeal({
      type: 'transit',
      commands: true,
      block: { address: transit.address, token: transit.token, key_name: 'unseal', mount_path: 'transit/' },
      variables: {
        VAULT_TRANSIT_SEAL_ADDR: transit.address,
        BAO_TOKEN: transit.token,
        VAULT_TRANSIT_SEAL_KEY_NAME: 'unseal',
        VAULT_TRANSIT_SEAL_MOUNT_PATH: 'transit/',
      },
      secrets: [transit.token],
      rotate: () => transit.rotate('unseal'),
      away: () => transit.fail('away'),
      back: () => transit.fail(undefined),
    });
    expect(transit.calls).toContain('PUT /v1/auth/token/renew-self');
  } finally {
    await transit.stop();
  }
}, 60_000);
