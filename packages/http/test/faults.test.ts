import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stopGracefully } from '../src/index.ts';
import { answer, fakeCore } from './fake-core.ts';
import { headOf, startServer, type RunningServer } from './running-server.ts';

const POST_3 = headOf('POST', '/v1/a', 'Content-Length: 3');

describe('callers that are slow, broken or gone', () => {
  const core = fakeCore();
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(core, { headersTimeout: 150, requestTimeout: 200, timeoutCheckInterval: 20, maxHeaderBytes: 4_096 });
  });
  afterAll(async () => server.stop());

  test.each([
    ['a head that never ends', ['GET /v1/a HTTP/1.1\r\nHost: h\r\n']],
    ['a LIST whose head never ends', [headOf('GET', '/v1/a'), 'LIST /v1/a HTTP/1.1\r\nHost: h\r\n']],
    ['a verb that never ends', ['LIS']],
    ['a body that never ends', [`${POST_3}{}`]],
  ])('%s is answered 408', async (_title, pieces) => {
    const text = await server.raw(...pieces);
    expect(text).toMatch(/HTTP\/1\.1 408 [^]*\{"errors":\["the request did not arrive in time"\]\}\n$/);
  });

  test.each([
    ['a head that is too large', `${headOf('GET', '/v1/a', `X-Large: ${'x'.repeat(5_000)}`)}`, 431, 'the request headers are too large'],
    ['a version that is none', 'GET /v1/a HTTP/9\r\n\r\n', 400, 'malformed HTTP request'],
    ['a header without a colon', 'GET /v1/a HTTP/1.1\r\nHost h\r\n\r\n', 400, 'malformed HTTP request'],
    ['a length that is no number', headOf('POST', '/v1/a', 'Content-Length: x'), 400, 'malformed HTTP request'],
    [
      'a length beside a transfer encoding',
      headOf('POST', '/v1/a', 'Content-Length: 3', 'Transfer-Encoding: chunked'),
      400,
      'malformed HTTP request',
    ],
    ['a chunk that is none', `${headOf('POST', '/v1/a', 'Transfer-Encoding: chunked')}zz\r\n`, 400, 'malformed HTTP request'],
    ['an expectation', headOf('POST', '/v1/a', 'Expect: wonders', 'Connection: close'), 417, 'Expect: only 100-continue is known'],
    ['TLS', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]), 405, ''],
  ])('%s is refused', async (_title, bytes, status, text) => {
    const reply = await server.raw(bytes);
    expect(reply).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*\\{"errors":\\[(?:"${text}[^"]*")?\\]\\}\\n$`));
    expect(reply).toMatch(/\r\nX-Strongroom-Request-Id: [0-9a-f-]{36}\r\n/);
  });

  test('CONNECT is refused', async () => {
    expect(await server.raw('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 405 [^]*\{"errors":\[\]\}\n$/);
  });

  test('an upgrade is not made, and the request is answered', async () => {
    const text = await server.raw(headOf('GET', '/v1/up', 'Connection: upgrade, close', 'Upgrade: websocket'));
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*"path":"up"/);
  });

  test('a caller that waits for 100-continue gets it', async () => {
    const text = await server.raw(headOf('POST', '/v1/a', 'Content-Length: 2', 'Expect: 100-continue', 'Connection: close'), '{}');
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });

  test('a caller that leaves within its body is not carried out', async () => {
    core.calls.length = 0;
    const socket = await server.connect();
    const arrived = once(server.server, 'request');
    socket.write(POST_3);
    const [request] = (await arrived) as [IncomingMessage];
    const closed = new Promise((resolve) => request.once('close', resolve));
    socket.destroy();
    await closed;
    expect(core.calls).toEqual([]);
  });

  test('the server answers after all of this', async () => {
    expect((await server.send('GET', '/v1/a')).status).toBe(200);
  });
});

test('a core learns when the caller went away, and not when the answer was given', async () => {
  const signals: AbortSignal[] = [];
  let called!: () => void;
  const wait = new Promise<void>((resolve) => (called = resolve));
  const core = fakeCore(async ({ path, signal }) => {
    signals.push(signal!);
    if (path === 'quick') return answer();
    called();
    await once(signal!, 'abort');
    return answer();
  });
  const server = await startServer(core);
  await server.send('GET', '/v1/quick');
  const socket = await server.connect();
  socket.write(headOf('GET', '/v1/slow'));
  await wait;
  socket.destroy();
  await once(signals[1]!, 'abort');
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true]);
  await server.stop();
});

describe('stopping', () => {
  /** A server with a request in its core, which `release` answers. */
  const busyServer = async () => {
    let release!: () => void;
    let arrived!: () => void;
    const inCore = new Promise<void>((resolve) => (arrived = resolve));
    const server = await startServer(
      fakeCore(async ({ path }) => {
        if (path !== 'slow') return answer();
        arrived();
        await new Promise<void>((resolve) => (release = resolve));
        return answer({ data: { done: true } });
      }),
    );
    const idle = await server.connect();
    idle.write(headOf('GET', '/v1/quick'));
    await once(idle, 'data');
    const busy = await server.connect();
    busy.write(headOf('GET', '/v1/slow'));
    await inCore;
    return { server: server.server, idle, busy, release };
  };

  test('closes idle connections, and answers what has begun', async () => {
    const { server, idle, busy, release } = await busyServer();
    const idleClosed = once(idle.resume(), 'close');
    const stopped = stopGracefully(server, 60_000);
    await idleClosed;
    expect(server.listening).toBe(false);
    let text = '';
    busy.on('data', (chunk) => {
      text += String(chunk);
    });
    const busyClosed = once(busy, 'close');
    release();
    expect(await stopped).toBe(true);
    await busyClosed;
    expect(text).toContain('"done":true');
  });

  test('sends an answer to its end to a client that reads slowly', async () => {
    const body = 'x'.repeat(20_000_000);
    const running = await startServer(fakeCore(async () => answer({ raw: { contentType: 'text/plain', body } })));
    const socket = await running.connect();
    socket.write(headOf('GET', '/v1/large'));
    await once(socket, 'readable');
    const silent = await running.connect();
    const stopped = stopGracefully(running.server, 60_000);
    // The server has closed what has nothing to do before this client goes on.
    await once(silent.resume(), 'close');
    let received = 0;
    for await (const chunk of socket) received += (chunk as Buffer).length;
    expect(received).toBeGreaterThan(body.length);
    expect(await stopped).toBe(true);
  });

  test('says that the connection is closed in answers to requests that began before', async () => {
    const { server, busy, release } = await busyServer();
    const stopped = stopGracefully(server, 60_000);
    release();
    const [text] = (await once(busy, 'data')) as [Buffer];
    expect(String(text)).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
    expect(await stopped).toBe(true);
  });

  test("answers a request that waits for 100-continue on another program's server", async () => {
    const server = createServer((request, response) => {
      if (request.url === '/first') response.end('first');
      else request.on('data', () => undefined).on('end', () => response.end('second'));
    });
    let accepted: Socket | undefined;
    server.on('connection', (socket: Socket) => (accepted = socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    // The connection is not idle: half a head has arrived.
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(headOf('GET', '/first'));
    await once(socket, 'data');
    const before = accepted!.bytesRead;
    socket.write('POST /second HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n');
    while (accepted!.bytesRead === before) await new Promise((resolve) => setImmediate(resolve));
    const stopped = stopGracefully(server, 60_000);
    socket.write('Expect: 100-continue\r\n\r\n');
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /);
    socket.write('{}');
    expect(String(await once(socket, 'data'))).toContain('second');
    expect(await stopped).toBe(true);
  });

  test('answers a request that arrives on an open connection, and says that the connection is closed', async () => {
    const { server, idle, busy, release } = await busyServer();
    const stopped = stopGracefully(server, 60_000);
    idle.write(headOf('GET', '/v1/quick'));
    const [text] = (await once(idle, 'data')) as [Buffer];
    expect(String(text)).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
    busy.resume();
    release();
    expect(await stopped).toBe(true);
  });

  test('closes connections on which nothing has arrived, and those whose client stops in the middle of a head', async () => {
    const running = await startServer(fakeCore());
    const [silent, used, halfway, secondHalfway] = [
      await running.connect(),
      await running.connect(),
      await running.connect(),
      await running.connect(),
    ];
    for (const socket of [used, secondHalfway]) {
      socket.write(headOf('GET', '/v1/a'));
      await once(socket, 'data');
    }
    for (const socket of [halfway, secondHalfway]) socket.write('GET /v1/a HTTP/1.1\r\nHost:');
    const gone = [silent, used, halfway, secondHalfway].map((socket) => {
      // What a client sends while its connection is being closed may meet a reset.
      socket.on('error', () => {}).resume();
      return new Promise((resolve) => socket.once('close', resolve));
    });
    expect(await stopGracefully(running.server, 60_000)).toBe(true);
    await Promise.all(gone);
  });

  test('answers a request of which the rest does not arrive, and waits for one of which it does', async () => {
    const running = await startServer(fakeCore());
    const halfway = await running.connect();
    const slow = await running.connect();
    const length = 1_000_000;
    for (const socket of [halfway, slow]) socket.write(`POST /v1/a HTTP/1.1\r\nHost: test\r\nContent-Length: ${length}\r\n\r\n{`);
    let answered = false;
    const answer503 = once(halfway, 'data').finally(() => (answered = true));
    const stopped = stopGracefully(running.server, 60_000);
    const piece = ' '.repeat(64);
    let left = length - 1;
    for (let turns = 0; !answered; turns += 1) {
      if (turns % 500 === 0) {
        slow.write(piece);
        left -= piece.length;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(String(await answer503)).toMatch(
      /^HTTP\/1\.1 503 Service Unavailable[^]*the server is stopping, and the rest of the request did not arrive/,
    );
    slow.write('}'.padStart(left));
    expect(String(await once(slow, 'data'))).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
    expect(await stopped).toBe(true);
  });

  test('does not wait for the rest of a request that is answered', async () => {
    const running = await startServer(fakeCore());
    const socket = await running.connect();
    socket.on('error', () => {}).write('GET /v1/a HTTP/1.1\r\nHost: test\r\nContent-Length: 30000000\r\n\r\n');
    await once(socket, 'data');
    let closed = false;
    socket.once('close', () => (closed = true));
    const stopped = stopGracefully(running.server, 60_000);
    while (!closed) {
      socket.write('x');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await stopped).toBe(true);
  });

  test('cuts off what is not done by the deadline', async () => {
    const { server, busy } = await busyServer();
    const closed = once(busy, 'close');
    busy.on('error', () => {});
    expect(await stopGracefully(server, 50)).toBe(false);
    await closed;
  });
});
