import type { AddressInfo } from 'node:net';
import http from 'node:http';
import https from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { createNetworkGuard, type NetworkGuard } from '../src/index.ts';

const STRICT = { allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: false };

describe('the agents and the dispatcher of the guard', () => {
  const server = http.createServer((_, response) => response.end('reached'));
  let port: number;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => void server.close());

  async function get(library: typeof http | typeof https, options: http.RequestOptions): Promise<string> {
    return await new Promise((resolve, reject) => {
      library
        .get({ host: '127.0.0.1', port, ...options }, (response) => response.on('data', (text) => resolve(String(text))))
        .on('error', reject);
    });
  }
  async function using<T>(guard: NetworkGuard, work: (guard: NetworkGuard) => Promise<T>): Promise<T> {
    try {
      return await work(guard);
    } finally {
      await guard.close();
    }
  }

  test('connect where it is allowed', async () => {
    const rules = { ...STRICT, allowedIpv4: ['127.0.0.1'], allowedPorts: [port] };
    const answer = await using(createNetworkGuard(rules), async (guard) => {
      const { body } = await request(`http://127.0.0.1:${port}`, { dispatcher: await guard.dispatcher() });
      return await body.text();
    });
    expect(answer).toBe('reached');
    expect(await using(createNetworkGuard(rules), ({ httpAgent }) => get(http, { agent: httpAgent }))).toBe('reached');
  });

  test('fail the request, and nothing else, where nobody listens', async () => {
    await using(createNetworkGuard({ ...STRICT, disabled: true }), async ({ httpAgent, httpsAgent, ...guard }) => {
      const dispatcher = await guard.dispatcher();
      await expect(get(http, { agent: httpAgent, port: 1 })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      await expect(get(https, { agent: httpsAgent, port: 1 })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      await expect(request('http://127.0.0.1:1', { dispatcher })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      await expect(request('https://localhost:1', { dispatcher })).rejects.toThrow();
    });
  });

  test('fail the request, and nothing else, where a port or an address is not allowed', async () => {
    await using(createNetworkGuard(STRICT), async ({ httpAgent, httpsAgent }) => {
      await expect(get(http, { agent: httpAgent })).rejects.toMatchObject({ code: 'address_refused' });
      await expect(get(https, { agent: httpsAgent })).rejects.toMatchObject({ code: 'address_refused' });
    });
    await using(createNetworkGuard({ ...STRICT, allowedPorts: [port] }), async ({ httpAgent, httpsAgent }) => {
      await expect(get(http, { agent: httpAgent })).rejects.toThrow('127.0.0.1');
      await expect(get(http, { agent: httpAgent, host: 'localhost' })).rejects.toMatchObject({ code: 'address_refused' });
      await expect(get(https, { agent: httpsAgent })).rejects.toMatchObject({ code: 'address_refused' });
    });
  });
});
