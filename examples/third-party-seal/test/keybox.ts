import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type KeyboxFailure = 'away' | 'permission' | 'throttled' | undefined;

/** A key box: encrypts with the newest of its keys, and decrypts with any. */
export async function startKeybox(token: string) {
  const keys = [randomBytes(32)];
  let failure: KeyboxFailure;
  const server = createServer((request, response) => {
    if (failure === 'away') return void request.socket.destroy();
    const answer = (status: number, body: object = {}): void => void response.writeHead(status).end(JSON.stringify(body));
    if (failure === 'throttled') return answer(429);
    if (failure === 'permission' || request.headers.authorization !== token) return answer(403);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { data = '' } = JSON.parse(Buffer.concat(chunks).toString()) as { data?: string };
      const version = String(keys.length);
      try {
        if (request.url === '/encrypt') answer(200, { data: encrypt(keys, Buffer.from(data, 'base64')), version });
        else if (request.url === '/decrypt') answer(200, { data: decrypt(keys, Buffer.from(data, 'base64')) });
        else answer(200, { version });
      } catch {
        answer(400);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rotate: () => void keys.push(randomBytes(32)),
    fail: (how: KeyboxFailure) => {
      failure = how;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Layout: index of the key (1 byte), nonce (12), ciphertext, tag (16). */
function encrypt(keys: readonly Buffer[], plain: Buffer): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keys.at(-1)!, nonce);
  return Buffer.concat([Buffer.of(keys.length - 1), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

function decrypt(keys: readonly Buffer[], sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', keys[sealed[0]!]!, sealed.subarray(1, 13)).setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(13, -16)), decipher.final()]).toString('base64');
}
