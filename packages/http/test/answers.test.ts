import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CoreResponse, Observation } from '../src/index.ts';
import { answer, fakeCore } from './fake-core.ts';
import { startServer, type RunningServer } from './running-server.ts';
import { pageFile } from './page-file.ts';

describe('answers', () => {
  let next: () => Promise<CoreResponse>;
  let server: RunningServer;
  const observed: Observation[] = [];
  const faults: unknown[] = [];
  /** Ids of the calls that met them. */
  const faulty: (string | undefined)[] = [];
  const core = fakeCore(async () => next());
  const ask = async (reply: CoreResponse, method = 'GET') => {
    next = async () => reply;
    return server.send(method, '/v1/a');
  };

  beforeAll(async () => {
    server = await startServer(core, {
      headers: { 'X-Custom': 'yes' },
      observe: (observation) => observed.push(observation),
      onFault: (error, id) => faults.push(error) && faulty.push(id),
    });
  });
  afterAll(async () => server.stop());

  test('have the envelope, its keys in order, and a closing newline', async () => {
    const reply = await ask(answer({ data: { b: 1, a: null }, warnings: ['w'], leaseId: 'l"1', renewable: true, leaseDuration: 60 }));
    expect(reply.text).toBe(
      '{"request_id":"request-1","lease_id":"l\\"1","renewable":true,"lease_duration":60,"data":{"b":1,"a":null},"wrap_info":null,"warnings":["w"],"auth":null}\n',
    );
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'content-length': String(reply.text.length),
      'x-custom': 'yes',
    });
    expect(reply.headers['x-powered-by']).toBeUndefined();
  });

  test('of a login that is not complete say as auth what is still to be proven', async () => {
    const pendingAuth: NonNullable<CoreResponse['pendingAuth']> = {
      ...{ client_token: '', accessor: '', policies: null, metadata: null, lease_duration: 0, renewable: false, entity_id: '' },
      ...{ token_type: 'default', orphan: false, num_uses: 0 },
      mfa_requirement: { mfa_request_id: 'r', mfa_constraints: { e: { any: [{ type: 'totp', id: 'm', uses_passcode: true, name: '' }] } } },
    };
    const { text } = await ask(answer({ pendingAuth }), 'PUT');
    expect((JSON.parse(text) as { auth: unknown }).auth).toEqual(pendingAuth);
  });

  test('are kept by nobody, unless they say for how long', async () => {
    const reply = await ask(answer({ headers: { 'Cache-Control': 'max-age=60' } }));
    expect(reply.headers['cache-control']).toBe('max-age=60');
  });

  test('without content carry a type all the same', async () => {
    const reply = await ask(answer({ status: 204 }), 'PUT');
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([204, '', 'application/json']);
    expect(reply.headers['content-length']).toBeUndefined();
    expect(reply.headers['transfer-encoding']).toBeUndefined();
  });

  test('of older paths repeat the keys of their data first, but none of the envelope', async () => {
    const reply = await ask(answer({ data: { keys: ['a'], data: 1, inner: { data: 2 } }, flattened: true }));
    expect(reply.text).toMatch(
      /^\{"keys":\["a"\],"inner":\{"data":2\},"request_id":.*"data":\{"keys":\["a"\],"data":1,"inner":\{"data":2\}\},/,
    );
    const empty = await ask(answer({ data: {}, flattened: true }));
    expect(empty.text).toMatch(/^\{"request_id":/);
  });

  test('that are errors list them, beside data if there is some', async () => {
    const plain = await ask(answer({ status: 404, errors: [] }));
    expect([plain.status, plain.text]).toEqual([404, '{"errors":[]}\n']);
    const both = await ask(answer({ status: 400, errors: ['x'], data: { a: 1 } }));
    expect(both.text).toBe('{"errors":["x"],"data":{"a":1}}\n');
  });

  test('with a status of failure but no errors keep the envelope', async () => {
    const reply = await ask(answer({ status: 404, data: { metadata: { destroyed: true } } }));
    expect(reply.status).toBe(404);
    expect(JSON.parse(reply.text)).toMatchObject({ data: { metadata: { destroyed: true } } });
  });

  test('with a raw body are sent as they are', async () => {
    const text = await ask(answer({ raw: { contentType: 'text/plain', body: 'é' }, headers: { 'Retry-After': '3' } }));
    expect([text.text, text.headers['content-type'], text.headers['content-length'], text.headers['retry-after']]).toEqual([
      'é',
      'text/plain',
      '2',
      '3',
    ]);
    const bytes = await ask(answer({ status: 503, raw: { contentType: 'application/octet-stream', body: new Uint8Array([65, 66]) } }));
    expect([bytes.status, bytes.text]).toEqual([503, 'AB']);
  });

  test('to HEAD have the headers only', async () => {
    const reply = await ask(answer({ raw: { contentType: 'application/json', body: '{}' } }), 'HEAD');
    expect([reply.status, reply.text, reply.headers['content-length']]).toEqual([200, '', '2']);
  });

  test('are observed with operation, status and time', async () => {
    observed.length = 0;
    await ask(answer());
    await server.send('OPTIONS', '/v1/a');
    expect(observed).toEqual([
      { operation: 'read', path: 'a', status: 200, seconds: expect.any(Number) },
      { operation: 'none', path: '', status: 400, seconds: expect.any(Number) },
    ]);
  });

  test('have the id of the call in a header: that of the envelope, or the one beside it', async () => {
    const { headers } = await ask(answer());
    expect(headers['x-strongroom-request-id']).toBe('request-1');
    const bare = [
      answer({ status: 204 }),
      answer({ status: 403, errors: ['permission denied'] }),
      answer({ raw: { contentType: 'text/plain', body: 'x' } }),
    ];
    for (const reply of bare) expect((await ask(reply)).headers['x-strongroom-request-id']).toBe('request-1');
    const wrapped = await ask(answer({ requestId: '', callId: 'request-2' }));
    expect(wrapped.headers['x-strongroom-request-id']).toBe('request-2');
    expect(JSON.parse(wrapped.text)).toMatchObject({ request_id: '' });
  });

  test('that cannot be written, and a core that throws, are faults of the server', async () => {
    for (const broken of [{ data: { n: 1n } }, { status: 7 }, { headers: { 'X-Bad': 'a\nb' } }, { requestId: 'a\nb' }]) {
      faults.length = 0;
      const reply = await ask(answer(broken));
      expect([reply.status, reply.text]).toEqual([500, '{"errors":["internal error"]}\n']);
      expect(faults).toHaveLength(1);
      expect(reply.headers['x-strongroom-request-id']).toBe(faulty.at(-1));
    }
    next = async () => {
      throw new Error('a detail');
    };
    const reply = await server.send('GET', '/v1/a');
    expect([reply.status, reply.text]).toEqual([500, '{"errors":["internal error"]}\n']);
    expect(reply.headers['x-strongroom-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('what is not below /v1/', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(fakeCore(), {
      pages: new Map([['index.html', pageFile('text/html; charset=utf-8', 'the page')]]),
      metrics: (request, response) => {
        if (request.headers['x-throw']) throw new Error('a detail');
        response.type('text/plain').send('m 1\n');
      },
    });
  });
  afterAll(async () => server.stop());

  test.each(['/', '/ui'])('%s leads to the pages', async (path) => {
    const reply = await server.send('GET', path);
    expect([reply.status, reply.headers['location']]).toEqual([307, '/ui/']);
  });

  test('robots are asked to stay away', async () => {
    expect((await server.send('GET', '/robots.txt')).text).toContain('Disallow: /');
  });

  test('metrics are where they were hooked in', async () => {
    expect((await server.send('GET', '/metrics')).text).toBe('m 1\n');
  });

  test.each(['/nothing', '/v2/a', '/%zz', '/v1', '*'])('%s is not found', async (path) => {
    const text = await server.raw(`GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 404 [^]*\{"errors":\[\]\}\n$/);
  });

  test('a handler that throws says nothing of why', async () => {
    const reply = await server.send('GET', '/metrics', { headers: { 'x-throw': '1' } });
    expect([reply.status, reply.text]).toEqual([500, '{"errors":["internal error"]}\n']);
  });

  test('without pages, a request for one gets the reason', async () => {
    const bare = await startServer(fakeCore(), { noPages: 'there is no console' });
    const reply = await bare.send('GET', '/ui/kv');
    expect([reply.status, reply.text]).toEqual([404, '{"errors":["there is no console"]}\n']);
    await bare.stop();
  });

  test('an app of the operator takes the place of all of this', async () => {
    const own = await startServer(fakeCore(), { app: (_request, response) => response.end('own') });
    expect((await own.send('GET', '/')).text).toBe('own');
    expect((await own.send('GET', '/v1/a')).text).toContain('"path":"a"');
    await own.stop();
  });
});
