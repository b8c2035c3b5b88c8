import { createHash, randomBytes } from 'node:crypto';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Figures, type Target } from './load.ts';
import { Probe, type Holds } from './probe.ts';

const BATCH = 1_000;
const MOUNT = 'batches';

/** What others noticed of batches of a thousand. */
export interface BatchFigures extends Holds {
  readonly figures: Figures;
}

/** Batches of a thousand items of 1 KiB, or of digests of them, one after the other, while another program asks for `sys/health` without a pause. */
export async function* transitBatches(target: Target, seconds: number): AsyncGenerator<BatchFigures> {
  await once(target, 'POST', `/v1/sys/mounts/${MOUNT}`, { type: 'transit' });
  await once(target, 'POST', `/v1/${MOUNT}/keys/aead`, { type: 'aes256-gcm96' });
  await once(target, 'POST', `/v1/${MOUNT}/keys/pair`, { type: 'ecdsa-p256' });
  await once(target, 'POST', `/v1/${MOUNT}/keys/curve`, { type: 'ecdsa-p521' });
  await once(target, 'POST', `/v1/${MOUNT}/keys/large`, { type: 'rsa-4096' });
  const data = randomBytes(1_024).toString('base64');
  const input = createHash('sha512').update(data).digest('base64');
  const prehashed = { prehashed: true, hash_algorithm: 'sha2-512' };
  const ask = async (path: string, body: unknown): Promise<Record<string, string>> =>
    (await once(target, 'POST', `/v1/${MOUNT}/${path}`, body)).json['data']!;
  const { ciphertext } = await ask('encrypt/aead', { plaintext: data });
  const signed = async (key: string, item: object): Promise<object> => ({
    ...item,
    signature: (await ask(`sign/${key}`, { ...item, ...(key === 'pair' ? {} : prehashed) }))['signature'],
  });
  const batches: readonly (readonly [operation: string, key: string, item: object, scheme?: object])[] = [
    ['encrypt', 'aead', { plaintext: data }],
    ['decrypt', 'aead', { ciphertext }],
    ['sign', 'pair', { input: data }],
    ['verify', 'pair', await signed('pair', { input: data })],
    ['sign', 'curve', { input }, prehashed],
    ['verify', 'curve', await signed('curve', { input }), prehashed],
    ['sign', 'large', { input }, prehashed],
    ['verify', 'large', await signed('large', { input }), prehashed],
  ];
  const probe = new Probe(target);
  try {
    for (const [operation, key, item, scheme] of batches) {
      const body = JSON.stringify({ ...scheme, batch_input: Array.from({ length: BATCH }, () => item) });
      const work = repeat(requestText('POST', `/v1/${MOUNT}/${operation}/${key}`, target.token, body));
      await load('warm up', target, work, { seconds: 1, connections: 1 });
      await probe.take();
      const figures = await load(`${operation} ${BATCH}${scheme ? ` ${key}` : ''}`, target, work, { seconds, connections: 1 });
      yield { figures, ...(await probe.take()) };
    }
  } finally {
    await probe.stop();
  }
}
