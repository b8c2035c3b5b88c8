import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { createServer } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { pagesRouter, type PageFile } from '../src/index.ts';
import { fakeCore } from './fake-core.ts';
import { pageFile } from './page-file.ts';
import { startServer, type RunningServer } from './running-server.ts';

const INDEX = pageFile('text/html; charset=utf-8', '<!doctype html><title>Strongroom</title>');
const SCRIPT = pageFile('text/javascript; charset=utf-8', 'console.log(1);'.repeat(40));
const { gzip: _gzip, brotli: _brotli, ...IMAGE } = pageFile('image/png', 'an image');
const FILES = new Map<string, PageFile>([
  ['index.html', INDEX],
  ['scheme.js', SCRIPT],
  ['assets/main-1a2b.js', SCRIPT],
  ['assets/mark-3c4d.png', IMAGE],
]);

describe('the pages of a console', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(fakeCore(), { pages: FILES, noPages: 'not said' });
  });
  afterAll(async () => server.stop());

  const get = async (path: string, headers: Record<string, string> = {}) => server.send('GET', path, { headers });
  const bytes = async (path: string, accept: string) => {
    const { headers, body } = await request(`http://127.0.0.1:${server.port}${path}`, { headers: { 'accept-encoding': accept } });
    return { coding: headers['content-encoding'], etag: headers['etag'], body: Buffer.from(await body.arrayBuffer()) };
  };

  test.each([
    '/ui/',
    '/ui/?next=%2Fkv',
    '/ui/index.html',
    '/ui/kv/team%2Fkv/show/a%2Fb%20c',
    '/ui/kv/x/show/%zz',
    '/ui//',
    '/ui/assets',
    '/ui/__proto__',
  ])('%s is the page', async (path) => {
    const reply = await get(path);
    expect([reply.status, reply.headers['content-type'], reply.text]).toEqual([200, 'text/html; charset=utf-8', INDEX.identity.toString()]);
  });

  test('an asset that no build has made is not found, and is no page', async () => {
    for (const path of ['/ui/assets/', '/ui/assets/gone-9f.js', '/ui/assets/main-1a2b.js/x']) {
      const reply = await get(path);
      expect([path, reply.status, reply.text, reply.headers['cache-control']]).toEqual([path, 404, '{"errors":[]}\n', 'no-store']);
    }
  });

  test('browsers keep assets, whose names change with their content, and ask for everything else again', async () => {
    const cache = async (path: string) => (await get(path)).headers['cache-control'];
    expect(await cache('/ui/assets/main-1a2b.js')).toBe('public, max-age=31536000, immutable');
    for (const path of ['/ui/', '/ui/kv', '/ui/scheme.js']) expect(await cache(path)).toBe('no-cache');
  });

  test.each(['/ui/', '/ui/kv', '/ui/assets/main-1a2b.js', '/ui/assets/gone.js'])('%s bears all headers for browsers', async (path) => {
    const { headers } = await get(path);
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(String(headers['permissions-policy']).split(', ')).toEqual(
      expect.arrayContaining(['camera=()', 'clipboard-read=()', 'clipboard-write=(self)']),
    );
  });

  test.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0.2, gzip;q=0.9', 'gzip'],
    ['*', 'br'],
    ['*;q=0.5, br;q=0', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0', undefined],
    ['deflate', undefined],
    ['br;q=much', undefined],
    ['', undefined],
  ])('Accept-Encoding: %p is answered with %p', async (accept, coding) => {
    const reply = await bytes('/ui/scheme.js', accept);
    const text = coding === 'br' ? brotliDecompressSync(reply.body) : coding === 'gzip' ? gunzipSync(reply.body) : reply.body;
    expect([reply.coding, text.toString()]).toEqual([coding, SCRIPT.identity.toString()]);
  });

  test('a file that has no smaller variant is sent as it is', async () => {
    const reply = await bytes('/ui/assets/mark-3c4d.png', 'br, gzip');
    expect([reply.coding, reply.body.toString()]).toEqual([undefined, 'an image']);
  });

  test('every variant has an entity tag of its own, and is not sent to those who have it', async () => {
    const tags = await Promise.all(['', 'gzip', 'br'].map(async (accept) => (await bytes('/ui/', accept)).etag as string));
    expect(new Set(tags).size).toBe(3);
    const [plain = '', gzip = '', br = ''] = tags;
    const status = async (header: string, accept: string) =>
      (await get('/ui/', { 'if-none-match': header, 'accept-encoding': accept })).status;
    expect(await Promise.all([status(plain, ''), status(gzip, 'gzip'), status(br, 'br')])).toEqual([304, 304, 304]);
    expect(await Promise.all([status(`"x", W/${br}`, 'br'), status('*', 'br')])).toEqual([304, 304]);
    expect(await Promise.all([status(plain, 'br'), status('"x"', ''), status('', '')])).toEqual([200, 200, 200]);
  });

  test('304 has the headers of 200 and no body', async () => {
    const { headers } = await get('/ui/');
    const reply = await get('/ui/', { 'if-none-match': String(headers['etag']) });
    expect(reply.text).toBe('');
    for (const name of ['etag', 'cache-control', 'vary', 'content-security-policy'])
      expect([name, reply.headers[name]]).toEqual([name, headers[name]]);
    expect(reply.headers['vary']).toBe('Accept-Encoding');
  });

  test('HEAD has the headers of GET and no body', async () => {
    const [head, whole] = [await server.send('HEAD', '/ui/kv'), await get('/ui/kv')];
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', whole.headers['content-length']]);
    expect((await server.send('HEAD', '/ui/assets/gone.js')).status).toBe(404);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
    const reply = await server.send(method, '/ui/');
    expect([reply.status, reply.headers['allow']]).toEqual([405, 'GET, HEAD']);
  });
});

describe('headers of the operator', () => {
  const sent = async (headers: Record<string, string>) => {
    const server = await startServer(fakeCore(), { pages: FILES, headers });
    const reply = await server.send('GET', '/ui/');
    await server.stop();
    return reply.headers;
  };

  test('come beside ours', async () => {
    expect((await sent({ 'X-Frame-Options': 'DENY' }))['x-frame-options']).toBe('DENY');
  });

  test('cannot weaken ours', async () => {
    const headers = await sent({ 'Referrer-Policy': 'unsafe-url', 'cross-origin-opener-policy': 'unsafe-none' });
    expect([headers['referrer-policy'], headers['cross-origin-opener-policy']]).toEqual(['no-referrer', 'same-origin']);
  });

  test('can forbid more by a second policy', async () => {
    const policies = (await sent({ 'Content-Security-Policy': "img-src 'none'" }))['content-security-policy'];
    expect(policies).toEqual(expect.arrayContaining(["img-src 'none'", expect.stringContaining("default-src 'none'")]));
  });
});

describe('headers that are added while the server runs', () => {
  test('are sent with pages at once, each value by itself, but cannot replace what says how a page is sent', async () => {
    const all = new Map<string, readonly string[]>();
    const server = await startServer(fakeCore(), { pages: FILES, pageHeaders: { all } });
    all.set('X-Own', ['a', 'b']);
    all.set('Content-Type', ['text/evil']);
    all.set('Referrer-Policy', ['unsafe-url']);
    const { headers } = await server.send('GET', '/ui/');
    await server.stop();
    expect([headers['x-own'], headers['content-type'], headers['referrer-policy']]).toEqual([
      ['a', 'b'],
      'text/html; charset=utf-8',
      'no-referrer',
    ]);
  });
});

describe('pagesRouter', () => {
  test('serves the pages of an app of somebody else', async () => {
    const app = express();
    app.use('/ui', pagesRouter(FILES));
    const server = createServer(app).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const reply = await request(`http://127.0.0.1:${port}/ui/kv?x=1`);
    expect([reply.statusCode, await reply.body.text()]).toEqual([200, INDEX.identity.toString()]);
    server.close();
  });

  test('refuses files without a page', () => {
    expect(() => pagesRouter(new Map())).toThrow('must contain index.html');
  });
});
