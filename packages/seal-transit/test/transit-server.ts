import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export type TransitFailure = 'away' | 'permission' | 'throttled' | undefined;

/** The part of a transit engine that seals use, with the answers that the engine gives. */
export interface TransitServer {
  readonly address: string;
  readonly token: string;
  /** Method and path of every call, in order. */
  readonly calls: string[];
  rotate(key: string): void;
  fail(how: TransitFailure): void;
  /** What renewals answer: seconds; `root` for a token that needs none. */
  ttl: number | 'root';
  stop(): Promise<void>;
}

export async function startTransit(
  keys: readonly string[],
  { tls, namespace = '' }: { tls?: { cert: string; key: string }; namespace?: string } = {},
): Promise<TransitServer> {
  const token = `s.${randomBytes(12).toString('hex')}`;
  const versions = new Map(keys.map((name) => [name, [randomBytes(32)]]));
  const calls: string[] = [];
  let failure: TransitFailure;
  const state = { ttl: 3_600 as number | 'root' };

  const answerTo = (method: string, path: string, body: Record<string, string>): [number, object, Record<string, string>?] => {
    const refused = (status: number, text: string): [number, object] => [status, { errors: [text] }];
    const [, mount, operation, name] = /^\/v1\/(transit|kms\/seal)\/(encrypt|decrypt)\/([^/]+)$/.exec(path) ?? [];
    if (path === '/v1/auth/token/renew-self' && method === 'PUT') {
      if (state.ttl === 'root') return refused(400, 'lease is not renewable');
      return [200, { auth: { client_token: token, lease_duration: state.ttl, renewable: true } }];
    }
    if (method !== 'PUT' || mount === undefined) return refused(404, `no handler for route "${path.slice(4)}". route entry not found.`);
    const known = versions.get(name!);
    if (known === undefined) return refused(400, operation === 'encrypt' ? 'encryption key not found' : 'encryption key not found');
    if (operation === 'encrypt') {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', known.at(-1)!, nonce);
      const sealed = Buffer.concat([
        nonce,
        cipher.update(Buffer.from(body['plaintext'] ?? '', 'base64')),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return [200, { data: { ciphertext: `vault:v${known.length}:${sealed.toString('base64')}`, key_version: known.length } }];
    }
    const [, version, text] = /^vault:v(\d+):(.+)$/.exec(body['ciphertext'] ?? '') ?? [];
    if (text === undefined) return refused(400, 'invalid ciphertext: no prefix');
    const sealed = Buffer.from(text, 'base64');
    try {
      const opened = createDecipheriv('aes-256-gcm', known[Number(version) - 1]!, sealed.subarray(0, 12)).setAuthTag(sealed.subarray(-16));
      return [200, { data: { plaintext: Buffer.concat([opened.update(sealed.subarray(12, -16)), opened.final()]).toString('base64') } }];
    } catch {
      return refused(400, 'cipher: message authentication failed');
    }
  };

  const listener: Parameters<typeof createServer>[1] = (request, response) => {
    if (failure === 'away') return void request.socket.destroy();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      calls.push(`${request.method} ${request.url}`);
      const send = (status: number, body: object, headers: Record<string, string> = {}): void =>
        void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      if (failure === 'throttled')
        return send(429, { errors: ['request path "transit/encrypt": rate limit quota exceeded'] }, { 'retry-after': '7' });
      if (failure === 'permission' || request.headers['x-vault-token'] !== token) return send(403, { errors: ['permission denied'] });
      if ((request.headers['x-vault-namespace'] ?? '') !== namespace) return send(404, { errors: ['namespace not found'] });
      send(
        ...answerTo(
          request.method ?? '',
          request.url ?? '',
          JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, string>,
        ),
      );
    });
  };
  const server: HttpServer = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    address: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    token,
    calls,
    rotate: (key: string) => void versions.get(key)!.push(randomBytes(32)),
    fail: (how: TransitFailure) => {
      failure = how;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
