import { METHODS } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fakeCore } from './fake-core.ts';
import { startServer, type RunningServer } from './running-server.ts';

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
const method = fc.oneof(fc.constantFrom(...METHODS, 'LIST', 'SCAN', 'LIS', 'ZZ'), token);
const segment = fc.oneof(
  fc.constantFrom(
    '',
    '.',
    '..',
    'a',
    '%2e%2e',
    '%',
    '%zz',
    '%00',
    '%ff',
    '%0d%0a',
    '~',
    ';',
    'sys',
    'data',
    '__proto__',
    'constructor',
    '%5c',
    '%2f%2f',
  ),
  fc.webPath(),
);
const target = fc
  .tuple(
    fc.constantFrom('/v1/', '/v1', '/', '//', '/ui/', 'http://h/v1/', '/v1//', '*', ''),
    fc.array(segment, { maxLength: 5 }),
    fc.option(fc.webQueryParameters()),
  )
  .map(([prefix, segments, query]) => `${prefix}${segments.join('/')}${query === null ? '' : `?${query}`}`);
const text = fc.string({ unit: fc.constantFrom(...'abc{}[]":,\\\u0000é%=&+ 019-.eE\n') });
const header = fc.oneof(
  fc.tuple(token, text),
  fc.tuple(
    fc.constantFrom(
      ...['X-Vault-Token', 'Authorization', 'X-Vault-Namespace', 'X-Vault-Wrap-TTL', 'Content-Type', 'Content-Length', 'Content-Encoding'],
      ...['Transfer-Encoding', 'Expect', 'Upgrade', 'Origin', 'Connection', 'X-Forwarded-For'],
    ),
    fc.oneof(
      text,
      fc.constantFrom('', '-1', '0', '5', '1h', '99999999999999999999', 'chunked', 'gzip', 'upgrade', 'Bearer', 'Bearer t', 'a/b', 'root'),
      fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'application/merge-patch+json', ';', '100-continue', 'null'),
    ),
  ),
);
const body = fc.oneof(
  text.map((one) => Buffer.from(one)),
  fc.json().map((one) => Buffer.from(one)),
  fc.json().map((one) => Buffer.from(one.slice(0, one.length / 2))),
  fc.uint8Array({ maxLength: 64 }).map((one) => Buffer.from(one)),
);

describe('whatever a caller sends', () => {
  const faults: unknown[] = [];
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(fakeCore(), {
      headersTimeout: 100,
      requestTimeout: 100,
      timeoutCheckInterval: 10,
      keepAliveTimeout: 50,
      trustedProxies: ['127.0.0.1'],
      onFault: (error) => faults.push(error),
    });
  });
  afterAll(async () => server.stop());

  const harmless = async (...pieces: Buffer[]): Promise<void> => {
    const received = await server.raw(...pieces);
    expect(faults).toEqual([]);
    for (const [, status] of received.matchAll(/^HTTP\/1\.1 (\d+)/gm)) expect(Number(status)).toBeLessThan(500);
  };

  test('requests of any method, target, headers and body are answered without a 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(method, target, fc.array(header, { maxLength: 4 }), body, fc.boolean(), async (verb, url, headers, bytes, sized) => {
        const length = sized ? [`Content-Length: ${bytes.length}`] : [];
        const lines = [
          `${verb} ${url} HTTP/1.1`,
          'Host: h',
          'Connection: close',
          ...length,
          ...headers.map(([name, value]) => `${name}: ${value}`),
        ];
        await harmless(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]));
      }),
      { numRuns: 400 },
    );
  }, 60_000);

  test('well-formed requests always get exactly one answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'LIST', 'PUT', 'POST', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'SCAN', 'LINK'),
        fc.array(segment, { maxLength: 5 }),
        body,
        async (verb, segments, bytes) => {
          const head = `${verb} /v1/${segments.join('/')} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: ${bytes.length}\r\n\r\n`;
          const received = await server.raw(Buffer.concat([Buffer.from(head), bytes]));
          const statuses = [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => Number(match[1]));
          expect(statuses).toHaveLength(1);
          expect(statuses[0]).toBeLessThan(500);
        },
      ),
      { numRuns: 300 },
    );
  }, 60_000);

  test('bytes that are no HTTP, in any pieces, do no harm', async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((one) => Buffer.from(one)),
      fc
        .constantFrom('LIST ', 'LI', 'ST /v1/', 'GET /v1/a HTTP/1.1\r\n', '\r\n\r\n', 'Host: h', 'SCAN ', 'S', ' ')
        .map((one) => Buffer.from(one)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async (pieces) => harmless(...pieces)),
      { numRuns: 100 },
    );
    expect((await server.send('GET', '/v1/a')).status).toBe(200);
  }, 60_000);
});
