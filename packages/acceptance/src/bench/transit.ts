import { randomBytes } from 'node:crypto';
import { comparedLoad } from './compared-load.ts';
import { requestText } from './http-connection.ts';
import { once, repeat, type Operation, type Target } from './load.ts';
import { mount, MOUNTS } from './mounts.ts';

const PLAINTEXT = randomBytes(1_024).toString('base64');
/** As many as other servers take in one request. */
const BATCH = 400;
const MOUNT = MOUNTS.transit;

/** Encryption and decryption of 1 KiB by the transit engine, and batches of four hundred. */
export const comparedTransit = comparedLoad(['transit encrypt', 'transit decrypt', 'transit batch'], async (targets) => {
  const ciphertexts = new Map<Target, string>();
  for (const target of targets) {
    await mount(target, MOUNT, 'transit');
    await once(target, 'POST', `/v1/${MOUNT}/keys/key`, { type: 'aes256-gcm96' });
    const { json } = await once(target, 'POST', `/v1/${MOUNT}/encrypt/key`, { plaintext: PLAINTEXT });
    const { ciphertext } = (json as unknown as { data: { ciphertext: string } }).data;
    ciphertexts.set(target, ciphertext);
  }
  const calling =
    (path: string, body: (target: Target) => unknown) =>
    (target: Target): Operation =>
      repeat(requestText('POST', `/v1/${MOUNT}/${path}`, target.token, JSON.stringify(body(target))));
  return {
    operations: {
      'transit encrypt': calling('encrypt/key', () => ({ plaintext: PLAINTEXT })),
      'transit decrypt': calling('decrypt/key', (target) => ({ ciphertext: ciphertexts.get(target) })),
      'transit batch': calling('encrypt/key', () => ({ batch_input: Array.from({ length: BATCH }, () => ({ plaintext: PLAINTEXT })) })),
    },
    stop: async () => {
      for (const target of targets) await once(target, 'DELETE', `/v1/sys/mounts/${MOUNT}`);
    },
  };
});
