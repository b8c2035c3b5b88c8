import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { redact } from '@strongroom/engine-sdk';
import { type HttpAnswer, type HttpCall, HttpPool, type HttpServer, jsonObject } from '../src/http.ts';
import { isDatabaseError, StatementFailed } from '../src/index.ts';

const GET: HttpCall = { method: 'GET', path: '/users' };
const forever = new AbortController().signal;
const textIn = ({ text }: HttpAnswer): string => text;
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  jest.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

describe('a call', () => {
  test('logs in with basic authentication and sends its body', async () => {
    const seen: unknown[] = [];
    const pool = await poolOf((request, response) => {
      let body = '';
      request.on('data', (part) => (body += String(part)));
      request.on('end', () => {
        const { authorization, 'content-type': type, 'user-agent': agent } = request.headers;
        seen.push({ line: `${request.method} ${request.url}`, authorization, type, agent, body });
        response.writeHead(201).end('made');
      });
    });
    const put: HttpCall = { method: 'PUT', path: '/users/app', body: { type: 'application/json', text: '{"a":1}' } };
    expect(await pool.call(forever, put, ({ status, text }) => `${status} ${text}`)).toBe('201 made');
    expect(await pool.call(forever, GET, textIn)).toBe('made');
    const authorization = `Basic ${Buffer.from('root:the root:password').toString('base64')}`;
    expect(seen).toEqual([
      { line: 'PUT /users/app', authorization, type: 'application/json', agent: 'strongroom', body: '{"a":1}' },
      { line: 'GET /users', authorization, type: undefined, agent: 'strongroom', body: '' },
    ]);
  });

  test('gives the reader what to mask: the secrets of the server, and the new password', async () => {
    const pool = await poolOf((_request, response) => response.end('the root:password, n3w-passw0rd'));
    const read = ({ text, secrets }: HttpAnswer): never => {
      throw new StatementFailed(redact(text, secrets));
    };
    const error = await failure(pool.call(forever, { ...GET, password: 'n3w-passw0rd' }, read));
    expect(isDatabaseError(error, 'statement_failed')).toBe(true);
    expect(error.message).not.toMatch(/root:password|n3w-passw0rd/);
  });

  test('that found nobody listening was not sent', async () => {
    const server = await listening(() => undefined);
    const origin = originOf(server);
    await new Promise((resolve) => server.close(resolve));
    const error = await failure(poolAt({ origin }).call(forever, GET, textIn));
    expect(error).toMatchObject({ code: 'connection_lost', unsent: true });
    expect(error.message).toContain(`no answer from ${origin}: `);
    expect(error.message).not.toContain('the root:password');
  });

  test('whose connection broke off may have been carried out', async () => {
    const pool = await poolOf((request) => request.socket.destroy());
    expect(await failure(pool.call(forever, GET, textIn))).toMatchObject({ code: 'connection_lost', unsent: false });
  });

  test('says that a server speaks no TLS', async () => {
    const server = await listening((_request, response) => response.end());
    const pool = poolAt({ origin: originOf(server).replace('http:', 'https:'), tls: { rejectUnauthorized: true } });
    expect((await failure(pool.call(forever, GET, textIn))).message).toContain('it does not speak TLS there');
  });

  test('refuses an answer that is larger than the limit', async () => {
    const server = await listening((_request, response) => response.end('x'.repeat(2_000)));
    const within = poolAt({ origin: originOf(server), largestAnswer: 2_000 });
    expect(await within.call(forever, GET, textIn)).toHaveLength(2_000);
    const beyond = poolAt({ origin: originOf(server), largestAnswer: 1_999 });
    expect(await failure(beyond.call(forever, GET, textIn))).toMatchObject({ code: 'connection_lost' });
  });

  test('that is aborted rejects with the reason, before and while it is under way', async () => {
    const { pool, arrived } = await silentPool();
    const reason = new Error('the deadline');
    const deadline = new AbortController();
    const call = failure(pool.call(deadline.signal, GET, textIn));
    await arrived;
    deadline.abort(reason);
    expect(await call).toBe(reason);
    expect(await failure(pool.call(deadline.signal, GET, textIn))).toBe(reason);
  });
});

describe('a pool', () => {
  test('counts its connections and the calls that wait for one', async () => {
    const { pool, arrived, answer } = await silentPool(8);
    expect(pool.status()).toEqual({ open: 0, idle: 0, waiting: 0, limit: 8 });
    const calls = Array.from({ length: 9 }, async () => pool.call(forever, GET, textIn));
    await arrived;
    expect(pool.status()).toEqual({ open: 8, idle: 0, waiting: 1, limit: 8 });
    answer();
    await Promise.all(calls);
    expect(pool.status()).toMatchObject({ open: 8, idle: 8, waiting: 0 });
  });

  test('that closes lets the calls under way end, and takes no others', async () => {
    const { pool, arrived, answer } = await silentPool();
    const call = pool.call(forever, GET, textIn);
    await arrived;
    const closed = pool.close();
    expect(await failure(pool.call(forever, GET, textIn))).toMatchObject({ code: 'session_closed' });
    answer();
    expect(await call).toBe('at last');
    await closed;
    await pool.close();
  });

  test('that closes waits two seconds for a server that does not answer', async () => {
    const [late, never] = [await silentPool(), await silentPool()];
    const answered = late.pool.call(forever, GET, textIn);
    const unanswered = failure(never.pool.call(forever, GET, textIn));
    await Promise.all([late.arrived, never.arrived]);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask', 'Date', 'performance', 'hrtime'] });
    const closed = [late.pool.close(), never.pool.close()];
    await jest.advanceTimersByTimeAsync(1_999);
    late.answer();
    expect(await answered).toBe('at last');
    await jest.advanceTimersByTimeAsync(1);
    expect(await unanswered).toMatchObject({ code: 'session_closed' });
    await Promise.all(closed);
  });
});

test('jsonObject reads a JSON object, and no other text', () => {
  expect(jsonObject('{"a":[1]}')).toEqual({ a: [1] });
  for (const text of ['', '{', 'null', '"a"', '1', '<html>']) expect(jsonObject(text)).toBeUndefined();
});

async function listening(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return server;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function poolAt(server: Partial<HttpServer> & Pick<HttpServer, 'origin'>): HttpPool {
  const password = 'the root:password';
  const pool = new HttpPool({ username: 'root', password, tls: undefined, connectTimeoutMs: 5_000, secrets: { password }, ...server });
  closing.push(async () => pool.close());
  return pool;
}

async function poolOf(answer: RequestListener): Promise<HttpPool> {
  return poolAt({ origin: originOf(await listening(answer)) });
}

/** A server that answers no call until `answer`; `arrived` when that many have come. */
async function silentPool(calls = 1): Promise<{ pool: HttpPool; arrived: Promise<void>; answer: () => void }> {
  const ends: (() => void)[] = [];
  let answered = false;
  let came = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (came = resolve));
  const pool = await poolOf((_request, response) => {
    const end = (): void => void response.end('at last');
    if (answered) return end();
    ends.push(end);
    if (ends.length === calls) came();
  });
  const answer = (): void => {
    answered = true;
    for (const end of ends) end();
  };
  return { pool, arrived, answer };
}

async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as Error,
  );
}
