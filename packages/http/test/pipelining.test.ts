import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { answer, fakeCore } from './fake-core.ts';
import { headOf, startServer, type RunningServer } from './running-server.ts';

let server: RunningServer;
afterEach(async () => server.stop());

/** A core whose call of `slow` waits until it is let go. */
function coreWithSlowPath(): { core: ReturnType<typeof fakeCore>; paths: () => string[]; release: () => void } {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const core = fakeCore(async (request) => {
    if (request.path === 'slow') await held;
    return answer({ data: { path: request.path } });
  });
  return { core, paths: () => core.calls.map(({ operation, path }) => `${operation} ${path}`), release };
}

/** Resolves when the server has nothing left to do with what has arrived. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function received(socket: Socket): () => string {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  return () => text;
}

const postOf = (target: string, body: string): string => `${headOf('POST', target, `Content-Length: ${body.length}`)}${body}`;

test('a request begins once the previous one on its connection is answered', async () => {
  const { core, paths, release } = coreWithSlowPath();
  server = await startServer(core);
  const socket = await server.connect();
  const text = received(socket);
  const closed = once(socket, 'close');
  const last = headOf('LIST', '/v1/kv/b', 'Connection: close');
  socket.write(postOf('/v1/slow', '{"a":1}') + headOf('DELETE', '/v1/kv/a') + postOf('/v1/kv/b', '{"b":2}') + last);
  while (core.calls.length === 0) await settled();
  await settled();
  expect(paths()).toEqual(['update slow']);
  release();
  await closed;
  expect(paths()).toEqual(['update slow', 'delete kv/a', 'update kv/b', 'list kv/b/']);
  expect([...text().matchAll(/"path":"([^"]+)"/g)].map((match) => match[1])).toEqual(['slow', 'kv/a', 'kv/b', 'kv/b/']);
});

test('requests of other connections do not wait', async () => {
  const { core, release } = coreWithSlowPath();
  server = await startServer(core);
  const socket = await server.connect();
  socket.write(headOf('GET', '/v1/slow') + headOf('GET', '/v1/kv/a'));
  while (core.calls.length === 0) await settled();
  expect((await server.send('POST', '/v1/kv/b', { body: '{}' })).status).toBe(200);
  expect(core.calls.map((call) => call.path)).toEqual(['slow', 'kv/b']);
  release();
  socket.destroy();
});

test('requests that wait never begin when their caller has left', async () => {
  const { core, paths, release } = coreWithSlowPath();
  server = await startServer(core);
  const accepted = once(server.server, 'connection') as Promise<[Socket]>;
  const socket = await server.connect();
  const [peer] = await accepted;
  socket.write(headOf('GET', '/v1/slow') + headOf('DELETE', '/v1/kv/a'));
  while (core.calls.length === 0) await settled();
  socket.resetAndDestroy();
  release();
  if (!peer.destroyed) await new Promise((resolve) => peer.once('error', () => undefined).once('close', resolve));
  await settled();
  expect(paths()).toEqual(['read slow']);
});

test('a body that arrives in pieces behind a waiting request is read to its end', async () => {
  const { core, release } = coreWithSlowPath();
  server = await startServer(core);
  const socket = await server.connect();
  const text = received(socket);
  const closed = once(socket, 'close');
  const value = 'x'.repeat(300_000);
  const body = JSON.stringify({ value });
  const post = headOf('POST', '/v1/kv/large', `Content-Length: ${body.length}`, 'X-Vault-Token: good', 'Connection: close') + body;
  socket.write(headOf('GET', '/v1/slow') + post.slice(0, 100_000));
  while (core.calls.length === 0) await settled();
  socket.write(post.slice(100_000));
  await settled();
  release();
  await closed;
  expect(core.calls.map((call) => call.path)).toEqual(['slow', 'kv/large']);
  expect(core.calls[1]!.data).toEqual({ value });
  expect(text().match(/HTTP\/1.1 200/g)).toHaveLength(2);
});

test('a connection is not read further while requests on it wait', async () => {
  const { core, release } = coreWithSlowPath();
  server = await startServer(core);
  const accepted = once(server.server, 'connection') as Promise<[Socket]>;
  const socket = await server.connect();
  const [peer] = await accepted;
  const text = received(socket);
  const closed = once(socket, 'close');
  const one = headOf('GET', `/v1/kv/${'a'.repeat(1_000)}`);
  const count = 8_000;
  socket.write(headOf('GET', '/v1/slow') + one.repeat(count) + headOf('GET', '/v1/end', 'Connection: close'));
  while (core.calls.length === 0) await settled();
  await settled();
  expect(peer.bytesRead).toBeLessThan(1_000_000);
  release();
  await closed;
  expect(text().match(/HTTP\/1.1 200/g)).toHaveLength(count + 2);
  expect(core.calls.at(-1)!.path).toBe('end');
});

describe('when the rest of a head does not come while 100 requests wait', () => {
  const times = { headersTimeout: 150, requestTimeout: 200, timeoutCheckInterval: 20 };
  const half = 'GET /v1/end HTTP/1.1\r\nHost: test\r\n';

  /** Half a head behind 150 requests, which waits for longer than it may. */
  async function withHalfHead(): Promise<{ socket: Socket; text: () => string; core: ReturnType<typeof fakeCore>; release: () => void }> {
    const { core, release } = coreWithSlowPath();
    server = await startServer(core, times);
    const late = once(server.server, 'clientError');
    const socket = await server.connect();
    const text = received(socket);
    socket.write(headOf('GET', '/v1/slow') + headOf('GET', '/v1/kv/a').repeat(150) + half);
    await late;
    return { socket, text, core, release };
  }

  test('its time begins once the server reads on', async () => {
    const { socket, text, core, release } = await withHalfHead();
    const closed = once(socket, 'close');
    release();
    socket.write('Connection: close\r\n\r\n');
    await closed;
    expect(text().match(/HTTP\/1.1 200/g)).toHaveLength(152);
    expect(core.calls.at(-1)!.path).toBe('end');
  });

  test('it is still bounded', async () => {
    const { socket, text, release } = await withHalfHead();
    const closed = once(socket, 'close');
    release();
    await closed;
    expect(text().match(/HTTP\/1.1 200/g)).toHaveLength(151);
  });
});

test.each([
  ['nonsense', 'NONSENSE\r\n\r\n', 3],
  ['a request behind the last one', headOf('GET', '/v1/kv/d'), 3],
])('requests in front of %s are answered', async (title, rest, count) => {
  const { core, paths, release } = coreWithSlowPath();
  server = await startServer(core);
  const socket = await server.connect();
  const text = received(socket);
  const closed = once(socket, 'close');
  const last = headOf('GET', '/v1/kv/c', ...(title === 'nonsense' ? [] : ['Connection: close']));
  socket.write(headOf('GET', '/v1/slow') + headOf('DELETE', '/v1/kv/b') + last + rest);
  while (core.calls.length === 0) await settled();
  release();
  await closed;
  expect(text().match(/HTTP\/1.1 200/g)).toHaveLength(count);
  expect(paths()).toEqual(['read slow', 'delete kv/b', 'read kv/c']);
});

test('an answer that a client reads slowly is sent to its end before nonsense ends the connection', async () => {
  const body = 'x'.repeat(20_000_000);
  const core = fakeCore(async ({ path }) => answer(path === 'large' ? { raw: { contentType: 'text/plain', body } } : {}));
  server = await startServer(core);
  const socket = await server.connect();
  socket.write(headOf('GET', '/v1/large') + headOf('DELETE', '/v1/kv/a'));
  await once(socket, 'readable');
  const fault = once(server.server, 'clientError');
  socket.write('NONSENSE\r\n\r\n');
  await fault;
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  expect(text.length).toBeGreaterThan(body.length);
  expect(text.match(/HTTP\/1.1 200/g)).toHaveLength(2);
  expect(core.calls.map((call) => call.path)).toEqual(['large', 'kv/a']);
});

test('pages keep their place among requests to the API', async () => {
  const { core, release } = coreWithSlowPath();
  server = await startServer(core);
  const socket = await server.connect();
  const text = received(socket);
  const closed = once(socket, 'close');
  socket.write(headOf('GET', '/v1/slow') + headOf('GET', '/robots.txt') + headOf('GET', '/v1/kv/c') + 'NONSENSE\r\n\r\n');
  while (core.calls.length === 0) await settled();
  release();
  await closed;
  expect([...text().matchAll(/Disallow|"path":"([^"]+)"/g)].map(([match]) => match)).toEqual([
    '"path":"slow"',
    'Disallow',
    '"path":"kv/c"',
  ]);
});
