import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { acceptListVerb } from '../src/index.ts';
import { fakeCore, type FakeCore } from './fake-core.ts';
import { headOf, startServer, type RunningServer } from './running-server.ts';

const LAST = 'Connection: close';

describe('the verbs that node does not know', () => {
  let core: FakeCore;
  let server: RunningServer;

  beforeEach(async () => {
    core = fakeCore();
    server = await startServer(core);
  });
  afterEach(async () => server.stop());

  const asked = (): string[] => core.calls.map(({ operation, path }) => `${operation} ${path}`);

  test('LIST is a list, with a slash at the end of its path', async () => {
    const reply = await server.send('LIST', '/v1/kv/metadata/app?after=b');
    expect(reply.status).toBe(200);
    expect(core.calls[0]).toMatchObject({ operation: 'list', path: 'kv/metadata/app/', data: { after: 'b' } });
  });

  test('SCAN is a scan, as is a GET that asks for one', async () => {
    for (const [method, query] of [
      ['SCAN', '?after=b'],
      ['GET', '?scan=true&after=b'],
    ] as const) {
      expect((await server.send(method, `/v1/kv/metadata/app${query}`)).status).toBe(200);
      expect(core.calls.at(-1)).toMatchObject({ operation: 'scan', path: 'kv/metadata/app/', data: { after: 'b' } });
    }
  });

  test('LIST and other verbs take turns on one connection, in order, also in one packet', async () => {
    const text = await server.raw(
      headOf('LIST', '/v1/a') +
        headOf('GET', '/v1/b') +
        headOf('LIST', '/v1/c') +
        headOf('LIST', '/v1/d') +
        `${headOf('PUT', '/v1/e', 'Content-Length: 15')}{"x":"LIST /y"}` +
        headOf('LIST', '/v1/f', LAST),
    );
    expect(asked().sort()).toEqual(['list a/', 'list c/', 'list d/', 'list f/', 'read b', 'update e']);
    const order = [...text.matchAll(/"path":"(.)/g)].map((match) => match[1]);
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test.each([1, 2, 3, 4, 5, 6, 12])('LIST is known when its bytes are split after the first %i', async (split) => {
    const text = headOf('LIST', '/v1/a', LAST);
    await server.raw(headOf('GET', '/v1/first'), text.slice(0, split), text.slice(split));
    expect(asked()).toEqual(['read first', 'list a/']);
  });

  test('LIST is known when each byte comes alone, and the connection goes on', async () => {
    await server.raw(...(headOf('LIST', '/v1/a') + headOf('GET', '/v1/b') + headOf('LIST', '/v1/c', LAST)));
    expect(asked()).toEqual(['list a/', 'read b', 'list c/']);
  });

  test.each(['LISP', 'LIS', 'LISTS', 'SCAM', 'FETCH', 'list', 'ZZ'])('%s is answered 405', async (verb) => {
    const text = await server.raw(headOf(verb, '/v1/a'));
    expect(text).toMatch(/^HTTP\/1\.1 405 /);
    expect(text).toMatch(/\{"errors":\[\]\}\n$/);
    expect(core.calls).toEqual([]);
  });

  test('a verb that only begins like LIST is refused when its packets are put together', async () => {
    expect(await server.raw('LIS', 'P /v1/a HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 405 /);
  });

  test('LINK, SEARCH and TRACE are no disguises: 405', async () => {
    for (const verb of ['LINK', 'SEARCH', 'TRACE', 'COPY']) {
      expect(await server.raw(headOf(verb, '/v1/a', LAST))).toMatch(/^HTTP\/1\.1 405 /);
    }
    expect(core.calls).toEqual([]);
  });

  test('what is owed for the requests before a broken one is still given', async () => {
    const text = await server.raw(`${headOf('GET', '/v1/a')}GARBAGE\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('"path":"a"');
  });

  test('a server of somebody else learns LIST, and keeps its own way with broken requests', async () => {
    const other = createServer((incoming, response) => response.end(`${incoming.method} ${incoming.url}`));
    const faults: string[] = [];
    other.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      faults.push(error.code ?? '');
      socket.destroy();
    });
    acceptListVerb(other);
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const listed = await request(`${origin}/x`, { method: 'LIST' as 'GET' });
    expect(await listed.body.text()).toBe('LIST /x');
    await expect(request(`${origin}/x`, { method: 'ODD' as 'GET' })).rejects.toThrow();
    expect(faults).toEqual(['HPE_INVALID_METHOD']);
    other.close();
    other.closeAllConnections();
  });
});
