import { get } from 'node:http';
import { load, once, type Figures, type Operation, type Target } from './load.ts';

/** Streams of one token: more are refused. */
const OF_TOKEN = 4;

/** Writes to key-value while so many callers follow them, and how many events those got. */
export async function eventWrites(
  target: Target,
  { write, seconds, subscribers }: { readonly write: Operation; readonly seconds: number; readonly subscribers: number },
): Promise<{ readonly figures: Figures; readonly received: number }> {
  let received = 0;
  const streams: { end(): void }[] = [];
  let token = '';
  for (let index = 0; index < subscribers; index += 1) {
    if (index % OF_TOKEN === 0) token = await newToken(target);
    streams.push(await follow(target, token, (events) => (received += events)));
  }
  try {
    await load('warm', target, write, { seconds: 1 });
    received = 0;
    return { figures: await load(`kv, ${subscribers} follow`, target, write, { seconds }), received };
  } finally {
    for (const stream of streams) stream.end();
  }
}

async function newToken(target: Target): Promise<string> {
  const { json } = await once(target, 'POST', '/v1/auth/token/create', { ttl: '1h' });
  return (json as unknown as { auth: { client_token: string } }).auth.client_token;
}

async function follow({ host, port }: Target, token: string, count: (events: number) => void): Promise<{ end(): void }> {
  return new Promise((resolve, reject) => {
    const request = get({ host, port, path: '/v1/sys/events?kinds=secret', headers: { 'X-Vault-Token': token } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`sys/events: ${response.statusCode}`));
      response.on('data', (part: Buffer) => count(part.toString('latin1').split('event: secret').length - 1));
      // The end of the stream is ours.
      response.on('error', () => undefined);
      response.once('data', () => resolve({ end: () => request.destroy() }));
    });
    request.on('error', reject);
  });
}
