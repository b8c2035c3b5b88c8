import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { request } from 'undici';
import { coreRouter } from '../src/index.ts';
import { answer, fakeCore, type FakeCore } from './fake-core.ts';

/** Sends a DELETE and waits for its answer. */
async function answered(socket: Socket, path: string): Promise<void> {
  socket.write(`DELETE /v1/${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await once(socket, 'data');
}

describe('the router in an app of somebody else', () => {
  let core: FakeCore;
  let server: Server;
  let port: number;
  let origin: string;

  beforeEach(async () => {
    core = fakeCore();
    const app = express();
    app.use('/parsed/v1', express.json(), express.urlencoded(), coreRouter(core));
    app.use('/text/v1', express.text({ type: () => true }), coreRouter(core));
    app.use('/secrets/v1', coreRouter(core));
    app.get('/', (_request, response) => {
      response.send('the app itself');
    });
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    origin = `http://127.0.0.1:${port}`;
  });

  afterEach(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  test('answers below its place and leaves the rest to the app', async () => {
    const inside = await request(`${origin}/secrets/v1/kv/data/a`, { headers: { 'X-Vault-Token': 't' } });
    expect(inside.statusCode).toBe(200);
    expect(inside.headers['content-type']).toBe('application/json');
    expect(core.calls[0]).toMatchObject({ operation: 'read', path: 'kv/data/a', token: 't' });
    await inside.body.dump();
    const outside = await request(`${origin}/`);
    expect(await outside.body.text()).toBe('the app itself');
  });

  test('changes that arrive together begin together, each in the asynchronous context of its own middleware', async () => {
    const begun: unknown[] = [];
    core = fakeCore(async ({ path }) => {
      begun.push([path, context.getStore()]);
      await new Promise((resolve) => process.nextTick(resolve));
      begun.push(`${path} went on`);
      return answer();
    });
    const context = new AsyncLocalStorage<string>();
    const app = express().use('/v1', (incoming, _response, next) => context.run(incoming.url, next), coreRouter(core));
    server.removeAllListeners('request').on('request', app);
    const [first, second] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all([answered(first, 'opened'), answered(second, 'opened')]);
    begun.length = 0;
    await Promise.all([answered(first, 'a'), answered(second, 'b')]);
    first.destroy();
    second.destroy();
    expect(begun).toEqual([['a', '/a'], ['b', '/b'], 'a went on', 'b went on']);
  });

  test.each(['parsed', 'text', 'secrets'])('reads a JSON body behind the middleware of /%s', async (place) => {
    const response = await request(`${origin}/${place}/v1/kv/a`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: '{"a":{"b":[1,null]}}',
    });
    await response.body.dump();
    expect(core.calls.at(-1)).toMatchObject({ operation: 'update', path: 'kv/a', data: { a: { b: [1, null] } } });
  });

  test.each(['parsed', 'text', 'secrets'])('reads a form behind the middleware of /%s', async (place) => {
    const response = await request(`${origin}/${place}/v1/kv/a`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'a=1&b=x+y',
    });
    await response.body.dump();
    expect({ ...core.calls.at(-1)?.data }).toEqual({ a: '1', b: 'x y' });
  });

  test('reads a body that the middleware before it did not want', async () => {
    const response = await request(`${origin}/parsed/v1/kv/a`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/odd' },
      body: '{"a":1}',
    });
    await response.body.dump();
    expect(core.calls.at(-1)?.data).toEqual({ a: 1 });
  });

  test('says that a list is no body, also when the middleware before it parsed it', async () => {
    const response = await request(`${origin}/parsed/v1/kv/a`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '[1]',
    });
    expect(response.statusCode).toBe(400);
    expect(await response.body.json()).toEqual({
      errors: ['failed to decode JSON input: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    });
  });

  test('redirects to the cleaned path below its place', async () => {
    const response = await request(`${origin}/secrets/v1/kv//a/./b?x=1`);
    await response.body.dump();
    expect(response.statusCode).toBe(301);
    expect(response.headers['location']).toBe('/secrets/v1/kv/a/b?x=1');
  });
});
