import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fakeCore, GOOD_TOKEN } from './fake-core.ts';
import { headOf, startServer, type RunningServer } from './running-server.ts';

const core = fakeCore();
const strict = fakeCore();
let server: RunningServer;
let small: RunningServer;

beforeAll(async () => {
  server = await startServer(core);
  small = await startServer(strict, { maxBodyBytes: 1_000, maxJsonStrings: 10, maxJsonDepth: 5, trustedProxies: ['127.0.0.0/8'] });
});
afterAll(async () => {
  await server.stop();
  await small.stop();
});
beforeEach(() => {
  core.calls.length = 0;
  strict.calls.length = 0;
});

const errorsOf = (text: string): unknown => (JSON.parse(text) as { errors: unknown }).errors;

describe('verbs', () => {
  test.each([
    ['GET', '/v1/kv/a', 'read', 'kv/a', undefined],
    ['GET', '/v1/kv/a?x=1&y=2&y=3', 'read', 'kv/a', { x: '1', y: ['2', '3'] }],
    ['GET', '/v1/kv/a?list=true&after=z', 'list', 'kv/a/', { after: 'z' }],
    ['GET', '/v1/kv/a/?list=1', 'list', 'kv/a/', {}],
    ['GET', '/v1/kv/a?list=false', 'read', 'kv/a', { list: 'false' }],
    ['GET', '/v1/kv/a?help=1', 'help', 'kv/a', undefined],
    ['DELETE', '/v1/kv/a?versions=1', 'delete', 'kv/a', { versions: '1' }],
    ['HEAD', '/v1/sys/health?standbyok=1', 'header', 'sys/health', { standbyok: '1' }],
    ['POST', '/v1/kv/a', 'update', 'kv/a', { k: 'v' }],
    ['PUT', '/v1/kv/a?ignored=1', 'update', 'kv/a', { k: 'v' }],
  ])('%s %s is %s', async (method, path, operation, corePath, data) => {
    const body = method === 'POST' || method === 'PUT' ? { body: '{"k":"v"}' } : {};
    const reply = await server.send(method, path, body);
    expect(reply.status).toBe(200);
    expect(core.calls).toHaveLength(1);
    const call = core.calls[0]!;
    expect([call.operation, call.path]).toEqual([operation, corePath]);
    expect(call.data).toEqual(data);
  });

  test('PATCH takes merge patches only', async () => {
    const patch = async (type?: string): Promise<unknown[]> => {
      const reply = await server.send('PATCH', '/v1/kv/a', {
        headers: type === undefined ? {} : { 'Content-Type': type },
        body: '{"k":null}',
      });
      return [reply.status, reply.status === 200 ? core.calls.at(-1)?.data : errorsOf(reply.text)];
    };
    expect(await patch('application/merge-patch+json; charset=utf-8')).toEqual([200, { k: null }]);
    expect(await patch('application/json')).toEqual([
      415,
      ['PATCH requires Content-Type of application/merge-patch+json, provided application/json'],
    ]);
    expect(await patch()).toEqual([400, ['mime: no media type']]);
    expect(core.calls.map((call) => call.operation)).toEqual(['patch']);
  });

  test.each([
    ['GET', '/v1/a?list=maybe', 400, []],
    ['GET', '/v1/a?list=1&scan=1', 400, []],
    ['GET', '/v1/a?scan=maybe', 400, []],
    ['OPTIONS', '/v1/a', 400, ['cannot handle internal-only request operation']],
    ['GET', '/v1/', 404, []],
    ['GET', '/v1', 404, []],
    ['GET', '/v1/a%zz', 400, ['the path is not valid percent-encoded UTF-8']],
    ['GET', '/v1/a%ff', 400, ['the path is not valid percent-encoded UTF-8']],
    ['GET', '/v1/a?b=%zz', 400, ['the query is not valid percent-encoded UTF-8']],
  ])('%s %s is refused', async (method, path, status, errors) => {
    const reply = await server.send(method, path);
    expect([reply.status, errorsOf(reply.text)]).toEqual([status, errors]);
    expect(core.calls).toEqual([]);
  });
});

describe('paths', () => {
  test('are decoded', async () => {
    await server.send('GET', '/v1/kv/a%20b%2Fc%C3%A9+%7B');
    expect(core.calls[0]?.path).toBe('kv/a b/cé+{');
  });

  test('must be percent-encoded', async () => {
    const text = await server.raw(Buffer.from('GET /v1/kv/é HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'));
    expect(text).toMatch(/^HTTP\/1\.1 400 [^]*"malformed HTTP request: Invalid char in url path"/);
  });

  test('may come in absolute form', async () => {
    await server.raw('GET http://elsewhere:1/v1/kv/a?x=1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
    expect(core.calls[0]).toMatchObject({ path: 'kv/a', data: { x: '1' } });
  });

  test.each([
    ['/v1//kv///a//', '/v1/kv/a/'],
    ['/v1/kv/./a?b=c', '/v1/kv/a?b=c'],
    ['/v1/kv/../a', '/v1/a'],
    ['/v1/kv/%2e%2e/a%20b', '/v1/a%20b'],
    ['/v1/../../ui/', '/ui/'],
    ['/v1/..%2f..%2f%2fevil.test/%5c', '/evil.test/%5C'],
  ])('%s is sent on to %s', async (path, location) => {
    const text = await server.raw(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\nPUT ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    expect([...text.matchAll(/^Location: (.*)\r$/gm)].map((match) => match[1])).toEqual([location, location]);
    expect([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => match[1])).toEqual(['301', '307']);
    expect(core.calls).toEqual([]);
  });
});

describe('a request that never reaches the core', () => {
  test.each([
    ['an unknown verb', 'BREW', '/v1/a', {}, 405],
    ['no path', 'GET', '/v1/', {}, 404],
    ['a path with dots', 'GET', '/v1/a%2f..%2fb', {}, 301],
    ['another namespace', 'GET', '/v1/a', { 'X-Vault-Namespace': 'team' }, 404],
    ['a patch of no type', 'PATCH', '/v1/a', {}, 400],
    ['an encoded body', 'POST', '/v1/a', { 'Content-Encoding': 'gzip', 'Content-Length': '0' }, 415],
    ['no duration', 'GET', '/v1/a', { 'X-Vault-Wrap-TTL': 'soon' }, 400],
  ])('is answered with an id of its own: %s', async (_title, method, path, more, status) => {
    const head = headOf(method, path, ...Object.entries(more).map(([name, value]) => `${name}: ${value}`), 'Connection: close');
    const reply = await server.raw(head);
    expect(reply).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(reply).toMatch(/\r\nX-Strongroom-Request-Id: [0-9a-f-]{36}\r\n/);
  });
});

describe('headers', () => {
  const call = async (headers: Record<string, string>) => {
    const reply = await server.send('GET', '/v1/a', { headers });
    return { reply, call: core.calls.at(-1) };
  };

  test('the token comes in X-Vault-Token, or else as a bearer', async () => {
    expect((await call({ 'X-Vault-Token': 'one', Authorization: 'Bearer two' })).call?.token).toBe('one');
    expect((await call({ Authorization: 'Bearer two' })).call?.token).toBe('two');
    expect((await call({ Authorization: 'Basic two' })).call?.token).toBeUndefined();
    expect((await call({})).call?.token).toBeUndefined();
  });

  test.each([
    ['60', 60],
    ['1h30m', 5_400],
    ['2d', 172_800],
    ['0', 0],
    ['', 0],
    ['500ms', 0.5],
    ['1ns', 1e-9],
  ])('X-Vault-Wrap-TTL %s is %d seconds', async (text, seconds) => {
    expect((await call({ 'X-Vault-Wrap-TTL': text })).call?.wrapTtl).toBe(seconds);
  });

  test.each([
    ['zz', 'error parsing X-Vault-Wrap-TTL header: time: invalid duration "zz"'],
    ['0.5', 'error parsing X-Vault-Wrap-TTL header: time: missing unit in duration "0.5"'],
    ['NaN', 'error parsing X-Vault-Wrap-TTL header: time: invalid duration "NaN"'],
    ['-5', 'requested wrap ttl cannot be negative'],
    ['-1ns', 'requested wrap ttl cannot be negative'],
  ])('X-Vault-Wrap-TTL %s is refused', async (text, error) => {
    const { reply } = await call({ 'X-Vault-Wrap-TTL': text });
    expect([reply.status, errorsOf(reply.text)]).toEqual([400, [error]]);
    expect(core.calls).toEqual([]);
  });

  test('only the root namespace exists; the header is echoed', async () => {
    const root = await call({ 'X-Vault-Namespace': '/root/' });
    expect([root.reply.status, root.reply.headers['x-vault-namespace']]).toEqual([200, '/root/']);
    const other = await call({ 'X-Vault-Namespace': 'team/a' });
    expect([other.reply.status, other.reply.headers['x-vault-namespace']]).toEqual([404, 'team/a']);
    expect(errorsOf(other.reply.text)).toEqual(['namespace not found']);
  });

  test('the remote address is that of the connection, whatever X-Forwarded-For says', async () => {
    const { call: asked } = await call({ 'X-Forwarded-For': '203.0.113.9' });
    expect(asked?.remoteAddress).toBe('127.0.0.1');
    expect(asked?.remotePort).toBeGreaterThan(0);
  });

  test('a trusted proxy is believed about the last address that is no proxy', async () => {
    await small.send('GET', '/v1/a', { headers: { 'X-Forwarded-For': '198.51.100.1, 203.0.113.9, 127.0.0.2' } });
    expect(strict.calls[0]?.remoteAddress).toBe('203.0.113.9');
    const bad = await small.send('GET', '/v1/a', { headers: { 'X-Forwarded-For': 'nobody' } });
    expect([bad.status, errorsOf(bad.text)]).toEqual([400, ['X-Forwarded-For: malformed address']]);
  });

  test('a proxy that is no address is a mistake of the operator', async () => {
    await expect(startServer(core, { trustedProxies: ['10.0.0.0/40'] })).rejects.toThrow('trustedProxies: "10.0.0.0/40"');
  });
});

describe('bodies', () => {
  const post = async (body: string, type?: string, to = server) => {
    const reply = await to.send('POST', '/v1/a', { body, headers: type === undefined ? {} : { 'Content-Type': type } });
    const data = (to === server ? core : strict).calls.at(-1)?.data;
    return reply.status === 200 ? { data: data && { ...data } } : [reply.status, errorsOf(reply.text)];
  };
  const FORM = 'application/x-www-form-urlencoded';

  test.each([
    ['', undefined, undefined],
    ['  \n', undefined, undefined],
    ['null', undefined, undefined],
    ['{}', undefined, {}],
    ['{"a":"é\\u00e9"}', 'text/plain', { a: 'éé' }],
    ['{"a":1}{"b":2}', undefined, { a: 1 }],
    ['{"a":[1,{"b":"}"}]} trailing', undefined, { a: [1, { b: '}' }] }],
    ['null garbage', undefined, undefined],
    ['a=1&b=2&b=3', FORM, { a: '1', b: ['2', '3'] }],
    ['{"a":1}', FORM, { a: 1 }],
  ])('%j (%s) is read as %j', async (body, type, data) => {
    expect(await post(body, type)).toEqual({ data });
  });

  const refused = (fault: string): unknown => [400, [`failed to decode JSON input: ${fault}`]];
  const NO_MAP = 'into Go value of type map[string]interface {}';
  test.each([
    ['{"a":1', 'unexpected EOF'],
    ['{"a":"', 'unexpected EOF'],
    ['tru', 'unexpected EOF'],
    ['[1]', `json: cannot unmarshal array ${NO_MAP}`],
    ['"x"', `json: cannot unmarshal string ${NO_MAP}`],
    ['1', `json: cannot unmarshal number ${NO_MAP}`],
    ['true', `json: cannot unmarshal bool ${NO_MAP}`],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a":[1 2]}', "invalid character '2' after array element"],
    ['{"a":-x}', "invalid character 'x' in numeric literal"],
    ['{"a":1.x}', "invalid character 'x' after decimal point in numeric literal"],
    ['{"a":1ex}', "invalid character 'x' in exponent of numeric literal"],
    ['{"a":nul0}', "invalid character '0' in literal null (expecting 'l')"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ['{"a":"\\u00zz"}', "invalid character 'z' in \\u hexadecimal character escape"],
    ['{"a":"\n"}', "invalid character '\\n' in string literal"],
    ['a=1', "invalid character 'a' looking for beginning of value"],
  ])('%j is refused', async (body, fault) => {
    expect(await post(body)).toEqual(refused(fault));
  });

  test('a word alone is refused as a form, and the answer does not repeat it', async () => {
    expect(await post('hunter2', FORM)).toEqual([400, ['the form in the body must be made of name=value pairs; JSON begins with {']]);
  });

  test('a form that does not decode is refused', async () => {
    expect(await post('a=%zz', FORM)).toEqual([400, ['the form in the body is not valid percent-encoded UTF-8']]);
  });

  test('a key named __proto__ is a key like any other', async () => {
    await post('{"__proto__":{"polluted":1}}');
    expect(Object.getOwnPropertyNames(core.calls.at(-1)?.data)).toEqual(['__proto__']);
    await post('__proto__=1&constructor=2', FORM);
    expect(Object.getOwnPropertyNames(core.calls.at(-1)?.data)).toEqual(['__proto__', 'constructor']);
    await server.send('GET', '/v1/a?__proto__=1&__proto__=2');
    expect(Object.entries(core.calls.at(-1)?.data ?? {})).toEqual([['__proto__', ['1', '2']]]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('a body that is too large is refused, declared or not', async () => {
    const large = JSON.stringify({ a: 'x'.repeat(100_000) });
    expect(await post(large, undefined, small)).toEqual([413, ['http: request body too large']]);
    const chunked = `POST /v1/a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    expect(await small.raw(chunked)).toMatch(/^HTTP\/1\.1 413 /);
    expect(strict.calls).toEqual([]);
  });

  test('a body of 32 MiB of a known caller is read, and one more byte is not', async () => {
    const filler = 'x'.repeat(32 * 1024 * 1024 - 8);
    const headers = { 'X-Vault-Token': GOOD_TOKEN };
    const reply = await server.send('POST', '/v1/a', { headers, body: `{"a":"${filler}"}` });
    expect(reply.status).toBe(200);
    const larger = await server.send('POST', '/v1/a', { headers, body: `{"a":"${filler}y"}` });
    expect(larger.status).toBe(413);
  });

  test('too many strings and too deep a nesting are refused', async () => {
    const complex = 'refused JSON input due to high complexity: exceeded maximum';
    const strings = JSON.stringify({ a: Array.from({ length: 9 }, () => 'a"\\') });
    expect(await post(strings, undefined, small)).toEqual({ data: JSON.parse(strings) as unknown });
    expect(await post(JSON.stringify({ a: Array.from({ length: 10 }, () => 'a"\\') }), undefined, small)).toEqual(
      refused(`${complex} number of strings`),
    );
    expect(await post('{"a":[[[[]]]]}', undefined, small)).toEqual({ data: { a: [[[[]]]] } });
    expect(await post('{"a":[[[[[]]]]]}', undefined, small)).toEqual(refused(`${complex} nesting depth`));
    expect(await post('['.repeat(100_000))).toEqual(refused(`${complex} nesting depth of 16 for a caller without a valid token`));
  });

  test('a compressed body is refused', async () => {
    const reply = await server.send('POST', '/v1/a', { body: '{}', headers: { 'Content-Encoding': 'gzip' } });
    expect([reply.status, errorsOf(reply.text)]).toEqual([415, ['Content-Encoding: the body must be sent as it is']]);
  });
});

describe('pages of other origins', () => {
  const cors = fakeCore();
  cors.cors = {
    decide: (method, origin, preflightFor) => {
      if (origin !== 'https://good.test') return { kind: 'refused', status: 403, error: 'origin not allowed' };
      if (method !== 'OPTIONS') return { kind: 'pass', headers: { 'Access-Control-Allow-Origin': origin } };
      if (preflightFor !== 'LIST') return { kind: 'refused', status: 405, error: '' };
      return { kind: 'preflight', headers: { 'Access-Control-Allow-Methods': 'LIST' } };
    },
  };
  let open: RunningServer;
  beforeAll(async () => {
    open = await startServer(cors);
  });
  afterAll(async () => open.stop());

  test('are decided upon by the core', async () => {
    const ask = async (method: string, headers: Record<string, string>) => {
      const reply = await open.send(method, '/v1/a', { headers });
      return [reply.status, reply.headers['access-control-allow-origin'], reply.headers['access-control-allow-methods']];
    };
    expect(await ask('GET', { Origin: 'https://good.test' })).toEqual([200, 'https://good.test', undefined]);
    expect(await ask('GET', { Origin: 'https://bad.test' })).toEqual([403, undefined, undefined]);
    const preflight = { Origin: 'https://good.test', 'Access-Control-Request-Method': 'LIST' };
    expect(await ask('OPTIONS', preflight)).toEqual([200, undefined, 'LIST']);
    expect(await ask('OPTIONS', { ...preflight, 'Access-Control-Request-Method': 'ODD' })).toEqual([405, undefined, undefined]);
    expect(await ask('GET', {})).toEqual([200, undefined, undefined]);
    expect(cors.calls).toHaveLength(2);
  });
});
