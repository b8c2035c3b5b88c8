import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { startTransit } from '../../../seal-transit/test/transit-server.ts';
import { SealedProcess, type NamedBlock } from '../../src/seals/sealed-process.ts';
import { walkUnderSeal } from './seal-walk.ts';

/** How the walk names a key named `unseal` of a mount `transit`. */
const named = (address: string, token: string) => ({
  block: { address, token, key_name: 'unseal', mount_path: 'transit/' },
  variables: {
    VAULT_TRANSIT_SEAL_ADDR: address,
    BAO_TOKEN: token,
    VAULT_TRANSIT_SEAL_KEY_NAME: 'unseal',
    VAULT_TRANSIT_SEAL_MOUNT_PATH: 'transit/',
  },
  secrets: [token],
});

test('a server lives under a seal of the type transit', async () => {
  const transit = await startTransit(['unseal']);
  try {
    await walkUnderSeal({
      type: 'transit',
      commands: true,
      ...named(transit.address, transit.token),
      rotate: () => transit.rotate('unseal'),
      away: () => transit.fail('away'),
      back: () => transit.fail(undefined),
    });
    expect(transit.calls).toContain('PUT /v1/auth/token/renew-self');
  } finally {
    await transit.stop();
  }
}, 60_000);

test('the transit engine of one server seals another one, also when it is killed meanwhile', async () => {
  const first = await SealedProcess.create();
  const own: NamedBlock[] = [['static', { current_key_id: 'first', current_key: randomBytes(32).toString('base64') }]];
  const done = async (...call: Parameters<SealedProcess['call']>) => {
    const { status, body } = await first.call(...call);
    expect({ call: call[1], failed: status >= 400 }).toEqual({ call: call[1], failed: false });
    return body;
  };
  try {
    await first.start(own);
    await first.init({ recovery_shares: 1, recovery_threshold: 1 });
    await done('POST', 'sys/mounts/transit', { type: 'transit' });
    await done('POST', 'transit/keys/unseal', {});
    const policy =
      'path "transit/encrypt/unseal" { capabilities = ["update"] }\npath "transit/decrypt/unseal" { capabilities = ["update"] }';
    await done('PUT', 'sys/policies/acl/seals', { policy });
    const { auth } = (await done('POST', 'auth/token/create-orphan', { policies: ['seals'], period: '24h' })) as unknown as {
      auth: { client_token: string };
    };
    await walkUnderSeal({
      type: 'transit',
      ...named(first.address, auth.client_token),
      rotate: async () => void (await done('POST', 'transit/keys/unseal/rotate')),
      away: async () => first.kill(),
      back: async () => {
        await first.start(own);
        await first.untilOpen();
      },
    });
  } finally {
    await first.dispose();
  }
}, 120_000);
