import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, type ManualClock } from '@strongroom/engine-testkit';
import type { CoreRequest, CoreResponse } from '../src/index.ts';
import { answer, fakeCore } from './fake-core.ts';
import { headOf, startServer, type RunningServer } from './running-server.ts';

const echo = async ({ body }: CoreRequest): Promise<CoreResponse> => {
  const parts: Uint8Array[] = [];
  for await (const part of body!) parts.push(part);
  return answer({ data: { text: Buffer.concat(parts).toString() } });
};

describe('a body that is taken as it comes', () => {
  let clock: ManualClock;
  let server: RunningServer;
  /** Resolves with a function for the rest of the request; that resolves with all that came back until the server closed. */
  const begin = async (text: string): Promise<(rest: string) => Promise<string>> => {
    const socket = await server.connect();
    let received = '';
    socket.on('data', (data: Buffer) => (received += data.toString()));
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(text);
    return async (rest) => {
      socket.write(rest);
      await closed;
      return received;
    };
  };

  beforeEach(async () => {
    clock = manualClock();
    const core = { ...fakeCore(echo), streamsBody: (path: string) => path === 'stream' };
    server = await startServer(core, { clock, headersTimeout: 150, requestTimeout: 200, timeoutCheckInterval: 20 });
  });
  afterEach(async () => server.stop());

  test.each([
    ['with a length', headOf('POST', '/v1/stream', 'Content-Length: 6'), 'abc', 'def'],
    ['in chunks', headOf('POST', '/v1/stream', 'Transfer-Encoding: chunked'), '3\r\nabc\r\n', '3\r\ndef\r\n0\r\n\r\n'],
  ])('arrives whole, and may take longer than another body: %s', async (_title, head, first, rest) => {
    const end = await begin(head + first);
    // Twice as long as a head may take, and longer than a body.
    for (let time = 0; time < 2; time += 1) expect(await server.raw('GET /v1/a HTTP/1.1\r\n')).toMatch(/^HTTP\/1\.1 408 /);
    expect(await end(rest)).toMatch(/^HTTP\/1\.1 200 [^]*"text":"abcdef"/);
  });

  test('that is large arrives whole', async () => {
    const body = 'x'.repeat(5_000_000);
    const { status, text } = await server.send('POST', '/v1/stream', { body });
    expect(status).toBe(200);
    expect(text).toContain(`"text":"${body}"`);
  });

  test('is given up once nothing has come for 30 s', async () => {
    const end = await begin(`${headOf('POST', '/v1/stream', 'Content-Length: 6')}abc`);
    expect(await server.raw('GET /v1/a HTTP/1.1\r\n')).toMatch(/^HTTP\/1\.1 408 /);
    await clock.advance('30s');
    expect(await end('')).toMatch(/^HTTP\/1\.1 500 /);
  });
});
