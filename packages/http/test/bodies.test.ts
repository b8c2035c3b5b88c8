import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { writeJson } from '@strongroom/engine-sdk';
import { manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { BodyMemory } from '../src/body-memory.ts';
import { Turns, turns } from '../src/turns.ts';
import { answer, fakeCore, GOOD_TOKEN, type FakeCore } from './fake-core.ts';
import { headOf, startServer, type RunningServer } from './running-server.ts';

const MIB = 1024 * 1024;
const FORM = 'application/x-www-form-urlencoded';
const COMPLEX = 'failed to decode JSON input: refused JSON input due to high complexity: exceeded maximum';
const STRANGER = 'for a caller without a valid token';
const FULL = 'the bodies of other requests take all the memory there is for them; try again';

const TOKEN = { 'X-Vault-Token': GOOD_TOKEN };

/** What is answered: 200, or the status and the text. */
async function posted(server: RunningServer, body: string, headers: Record<string, string> = {}): Promise<unknown> {
  const reply = await server.send('POST', '/v1/a', { body, headers });
  return reply.status === 200 ? 200 : [reply.status, ...(JSON.parse(reply.text) as { errors: string[] }).errors];
}

function nested(depth: number): string {
  return `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;
}

/** An object of this many values, itself included. */
function valued(values: number): string {
  return `{"a":[${'0,'.repeat(values - 3)}0]}`;
}

function form(pairs: number): string {
  return Array.from({ length: pairs }, (_, index) => `k${index}=v`).join('&');
}

function chunk(bytes: number): string {
  return `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
}

const CHUNKED = 'Transfer-Encoding: chunked';
const KNOWN = `X-Vault-Token: ${GOOD_TOKEN}`;

describe('before its caller is known, a request', () => {
  let core: FakeCore;
  let server: RunningServer;
  beforeAll(async () => {
    core = fakeCore(() => answer());
    server = await startServer(core);
  });
  afterAll(async () => server.stop());
  beforeEach(() => {
    core.calls.length = 0;
    core.asked.length = 0;
  });

  test('has at most 1 MiB of body, declared or not', async () => {
    const most = `{"a":"${'x'.repeat(MIB - 8)}"}`;
    expect(await posted(server, most)).toBe(200);
    expect(await posted(server, `${most} `)).toEqual([413, 'http: request body too large']);
    const chunked = headOf('POST', '/v1/a', CHUNKED) + chunk(MIB) + chunk(1);
    expect(await server.raw(chunked)).toMatch(/^HTTP\/1\.1 413 /);
    expect(core.calls).toHaveLength(1);
  });

  test('gets 503 where nobody can be known, as the server is sealed', async () => {
    core.sealed = true;
    const large = headOf('POST', '/v1/a', `Content-Length: ${2 * MIB}`, KNOWN.replace(GOOD_TOKEN, 'bad'));
    const answers = [await server.raw(large), await server.raw(large.replace(String(2 * MIB), String(64 * MIB)))];
    core.sealed = false;
    expect(answers).toEqual([expect.stringMatching(/^HTTP\/1\.1 503 [^]*Vault is sealed/), expect.stringMatching(/^HTTP\/1\.1 413 /)]);
  });

  test('is answered before more than 1 MiB of its body is read', async () => {
    // None of the body is ever sent.
    expect(await server.raw(headOf('POST', '/v1/a', `Content-Length: ${MIB + 1}`))).toMatch(/^HTTP\/1\.1 413 /);
    expect(await server.raw(headOf('POST', '/v1/a', `Content-Length: ${31 * MIB}`, 'X-Vault-Token: bad'))).toMatch(/^HTTP\/1\.1 413 /);
    expect(core.asked).toEqual(['bad']);
  });

  test('has at most 16 levels', async () => {
    expect(await posted(server, nested(16))).toBe(200);
    expect(await posted(server, nested(17))).toEqual([400, `${COMPLEX} nesting depth of 16 ${STRANGER}`]);
    expect(await posted(server, '['.repeat(1_000_000))).toEqual([400, `${COMPLEX} nesting depth of 16 ${STRANGER}`]);
  });

  test('has at most 10,000 values', async () => {
    expect(await posted(server, valued(10_000))).toBe(200);
    expect(await posted(server, valued(10_001))).toEqual([400, `${COMPLEX} number of values of 10000 ${STRANGER}`]);
    expect(await posted(server, `[${'{},'.repeat(300_000)}0]`)).toEqual([400, `${COMPLEX} number of values of 10000 ${STRANGER}`]);
  });

  test('has at most 10,000 values of a form, and of a query whoever sends it', async () => {
    const headers = { 'Content-Type': FORM };
    const many = 'the form in the body has more than 10000 values, the most for a caller without a valid token';
    expect(await posted(server, form(10_000), headers)).toBe(200);
    expect(await posted(server, form(10_001), headers)).toEqual([400, many]);
    const query = await server.send('GET', `/v1/a?${'a&'.repeat(10_001)}`, { headers: TOKEN });
    expect([query.status, query.text]).toEqual([400, '{"errors":["the query has more than 10000 values"]}\n']);
  });

  test('takes few turns of the event loop, whatever its body is', async () => {
    const before = turns.taken;
    await posted(server, `{"a":"${'x'.repeat(MIB - 8)}"}`);
    // 1 MiB at 128 KiB a turn.
    expect(turns.taken - before).toBeLessThanOrEqual(9);
  });

  test('is not known by a token that is none, nor by a core that cannot say', async () => {
    expect(await posted(server, nested(17), { 'X-Vault-Token': 'bad' })).toEqual([400, `${COMPLEX} nesting depth of 16 ${STRANGER}`]);
    const mute = fakeCore(() => answer());
    delete (mute as Partial<FakeCore>).recognizes;
    const other = await startServer(mute);
    expect(await posted(other, nested(17), TOKEN)).toEqual([400, `${COMPLEX} nesting depth of 16 ${STRANGER}`]);
    await other.stop();
  });

  test('is not asked about where it is small', async () => {
    expect(await posted(server, '{"a":"b"}', TOKEN)).toBe(200);
    expect(core.asked).toEqual([]);
  });

  test.each([
    ['Content-Encoding: GZIP', 'Content-Encoding: the body must be sent as it is'],
    ['Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: only chunked is known'],
  ])('is refused with %s', async (header, text) => {
    const length = header.startsWith('T') ? [] : ['Content-Length: 2'];
    const reply = await server.raw(headOf('POST', '/v1/a', header, ...length));
    expect(reply).toMatch(/^HTTP\/1\.1 415 /);
    expect(reply).toContain(text);
  });

  test('does not get 100 Continue for a body that is too large, and gets it for one that is not', async () => {
    const expecting = (...headers: string[]): string => headOf('POST', '/v1/a', 'Expect: 100-continue', 'Connection: close', ...headers);
    const refused = await server.raw(expecting(`Content-Length: ${MIB + 1}`));
    expect(refused).toMatch(/^HTTP\/1\.1 413 /);
    expect(refused).not.toContain('100 Continue');
    expect(await server.raw(expecting('Content-Length: 2'), '{}')).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    const large = `{"a":"${'x'.repeat(MIB)}"}`;
    expect(await server.raw(expecting(`Content-Length: ${large.length}`, KNOWN), large)).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /,
    );
  });

  test('cannot send its body in crumbs', async () => {
    const crumbs = headOf('POST', '/v1/a', CHUNKED) + '1\r\nx\r\n'.repeat(1_001);
    const reply = await server.raw(crumbs);
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(reply).toContain('the body comes in chunks of less than 64 bytes; send larger ones');
  });
});

describe('a known caller', () => {
  let core: FakeCore;
  let server: RunningServer;
  beforeAll(async () => {
    core = fakeCore(() => answer());
    server = await startServer(core);
  });
  afterAll(async () => server.stop());

  test('may send more of everything', async () => {
    expect(await posted(server, `{"a":"${'x'.repeat(2 * MIB)}"}`, TOKEN)).toBe(200);
    expect(await posted(server, nested(500), TOKEN)).toBe(200);
    expect(await posted(server, valued(500_000), TOKEN)).toBe(200);
    expect(await posted(server, form(50_000), { ...TOKEN, 'Content-Type': FORM })).toBe(200);
    const chunked = headOf('POST', '/v1/a', CHUNKED, KNOWN, 'Connection: close');
    const body = `{"a":"${'x'.repeat(3 * MIB)}"}`;
    expect(await server.raw(chunked, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('may present the token as a bearer', async () => {
    expect(await posted(server, nested(17), { Authorization: `Bearer ${GOOD_TOKEN}` })).toBe(200);
  });

  test('meets limits too, in the words of other servers of this API', async () => {
    expect(await posted(server, nested(501), TOKEN)).toEqual([400, `${COMPLEX} nesting depth`]);
    expect(await posted(server, valued(500_001), TOKEN)).toEqual([400, `${COMPLEX} number of values`]);
    const strings = `{"a":[${'"",'.repeat(100_000)}0]}`;
    expect(await posted(server, strings, TOKEN)).toEqual([400, `${COMPLEX} number of strings`]);
    const pairs = 'the form in the body has more than 50000 values, the most there may be';
    expect(await posted(server, form(50_001), { ...TOKEN, 'Content-Type': FORM })).toEqual([400, pairs]);
  });

  test.each([
    ['many values', `{"a":[${'{},'.repeat(400_000)}0]}`, undefined, 50],
    ['a long string', `{"a":"${'\\n'.repeat(2 * MIB)}"}`, undefined, 30],
    ['a form of many pairs', form(49_000), FORM, 25],
    ['a long value of a form', `a=${'%41+'.repeat(MIB)}`, FORM, 30],
  ])('has %s read in turns, and others are served between them', async (_title, body, type, least) => {
    const before = turns.taken;
    let done = false;
    const sent = posted(server, body, { ...TOKEN, ...(type === undefined ? {} : { 'Content-Type': type }) }).then((result) => {
      done = true;
      return result;
    });
    const seen: number[] = [];
    while (!done) {
      const reply = await server.send('GET', '/v1/health');
      expect(reply.status).toBe(200);
      if (!done) seen.push(turns.taken);
    }
    expect(await sent).toBe(200);
    expect(turns.taken - before).toBeGreaterThanOrEqual(least);
    // Some were answered after the first turn and before the last.
    expect(seen.some((taken) => taken > before && taken < turns.taken)).toBe(true);
  });

  test('gets answers in the order of the requests, a long body before a short one', async () => {
    core.calls.length = 0;
    const long = `{"a":"${'x'.repeat(MIB)}"}`;
    const head = (length: number, ...more: string[]): string => headOf('POST', '/v1/a', `Content-Length: ${length}`, KNOWN, ...more);
    const reply = await server.raw(`${head(long.length)}${long}${head(2, 'Connection: close')}{}`);
    expect(reply.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    expect(core.calls.map(({ data }) => Object.keys(data!).length).sort()).toEqual([0, 1]);
  });
});

describe('numbers', () => {
  test('reach the core as floats, and with their digits beside where floats lose them', async () => {
    const core = fakeCore(() => answer());
    const server = await startServer(core);
    const text = '{"a":12345678901234567890,"b":[0.10000000000000001,1.5],"c":"1.0"}';
    expect(await posted(server, text)).toBe(200);
    expect(core.calls[0]!.data).toEqual({ a: 12345678901234567000, b: [0.1, 1.5], c: '1.0' });
    expect(writeJson(core.calls[0]!.exactData)).toBe(text);
    const long = `{"a":[${'1.0,'.repeat(9_000)}0]}`;
    expect(await posted(server, long)).toBe(200);
    expect(writeJson(core.calls[1]!.exactData)).toBe(long);
    expect(await posted(server, '{"a":1.5}')).toBe(200);
    expect(core.calls[2]!.exactData).toBeUndefined();
    await server.stop();
  });

  test('are answered with their digits', async () => {
    const server = await startServer(fakeCore(({ exactData }) => answer({ data: exactData ?? null })));
    const reply = await server.send('POST', '/v1/a', { body: '{"n":1e400,"m":[-0.0]}' });
    expect(reply.text).toContain('"data":{"n":1e400,"m":[-0.0]}');
    await server.stop();
  });
});

describe('bodies in flight', () => {
  const sockets: Socket[] = [];
  let clock: ManualClock;
  let server: RunningServer;

  /** Begins a body of this many bytes and sends no more; resolves with what is answered at once, if anything is. */
  const half = async (bytes: number, ...headers: string[]): Promise<{ socket: Socket; text: () => string }> => {
    const socket = await server.connect();
    sockets.push(socket);
    let text = '';
    socket.on('data', (data) => {
      text += String(data);
    });
    socket.on('error', () => {});
    // Taken by the system, or refused before that; after an exchange on another connection the server has read the bytes.
    await new Promise<void>((resolve) => {
      socket.once('data', () => resolve());
      socket.once('close', () => resolve());
      socket.write(headOf('POST', '/v1/a', CHUNKED, ...headers) + chunk(bytes), () => resolve());
    });
    for (let round = 0; round < 5; round += 1) await server.send('GET', '/v1/health');
    return { socket, text: () => text };
  };

  /** A large body may be read in many pieces: exchanges on another connection go on until it is answered. */
  const answered = async ({ text }: { text: () => string }): Promise<void> => {
    for (let round = 0; round < 2_000 && text() === ''; round += 1) await server.send('GET', '/v1/health');
  };

  beforeEach(async () => {
    clock = manualClock();
    server = await startServer(
      fakeCore(() => answer()),
      { maxBodyMemory: 4 * MIB, clock },
    );
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.stop();
  });

  test('of strangers have a fourth of the memory; past it the answer is 429 with Retry-After, and known callers go on', async () => {
    const first = await half(600_000);
    await half(400_000);
    const third = await half(100_000);
    await answered(third);
    expect(first.text()).toBe('');
    expect(third.text()).toMatch(
      /^HTTP\/1\.1 429 [^]*\r\nRetry-After: 1\r\n[^]*Connection: close|^HTTP\/1\.1 429 [^]*Connection: close[^]*\r\nRetry-After: 1\r\n/,
    );
    expect(third.text()).toContain(FULL);
    expect(await posted(server, `{"a":"${'x'.repeat(200_000)}"}`)).toEqual([429, FULL]);
    expect(await posted(server, `{"a":"${'x'.repeat(200_000)}"}`, TOKEN)).toBe(200);
    expect(await posted(server, `{"a":"${'x'.repeat(100)}"}`, TOKEN)).toBe(200);
  });

  test('give their memory back when their caller leaves, and when they are answered', async () => {
    const first = await half(900_000);
    const body = `{"a":"${'x'.repeat(300_000)}"}`;
    expect(await posted(server, body)).toEqual([429, FULL]);
    const closed = once(first.socket, 'close');
    first.socket.destroy();
    await closed;
    for (let round = 0; round < 5; round += 1) await server.send('GET', '/v1/health');
    for (let round = 0; round < 20; round += 1) expect(await posted(server, body)).toBe(200);
  });

  test('that are large leave room for ordinary ones of known callers', async () => {
    await half(1_500_000, KNOWN);
    const second = await half(1_500_000, KNOWN);
    await answered(second);
    expect(second.text()).toMatch(/^HTTP\/1\.1 429 /);
    expect(await posted(server, `{"a":"${'x'.repeat(100_000)}"}`, TOKEN)).toBe(200);
  });

  test('count with what is made of them', async () => {
    // 400,000 values take far more than their text.
    expect(await posted(server, `{"a":[${'0,'.repeat(400_000)}0]}`, TOKEN)).toEqual([429, FULL]);
    expect(await posted(server, `{"a":[${'0,'.repeat(4_000)}0]}`, TOKEN)).toBe(200);
  });

  test('of strangers must arrive within ten seconds, those of known callers within ninety', async () => {
    const stranger = await half(1_000);
    const known = await half(1_000, KNOWN);
    await clock.advance(9);
    for (let round = 0; round < 5; round += 1) await server.send('GET', '/v1/health');
    expect(stranger.text()).toBe('');
    await clock.advance(1);
    for (let round = 0; round < 5; round += 1) await server.send('GET', '/v1/health');
    expect(stranger.text()).toMatch(/^HTTP\/1\.1 408 [^]*the request did not arrive in time/);
    expect(known.text()).toBe('');
    await clock.advance(80);
    for (let round = 0; round < 5; round += 1) await server.send('GET', '/v1/health');
    expect(known.text()).toMatch(/^HTTP\/1\.1 408 /);
  });
});

test('forty half-sent bodies hold no more than their share', () => {
  const memory = new BodyMemory();
  const holds = Array.from({ length: 400 }, () => memory.hold());
  const taken = holds.filter((hold) => hold.take(MIB)).length;
  expect(taken).toBe(64);
  const known = Array.from({ length: 40 }, () => memory.hold()).filter((hold) => hold.known() && hold.take(31 * MIB)).length;
  expect(known).toBe(5);
  expect(memory.used).toBeLessThanOrEqual(256 * MIB);
  expect(holds[0]!.known()).toBe(true);
  for (const hold of holds) hold.release();
  for (const hold of holds) hold.release();
  expect(memory.used).toBe(5 * 31 * MIB);
});

test('bodies take turns in a circle, one turn in each round of the event loop', async () => {
  const line = new Turns();
  const order: string[] = [];
  const work = (name: string, steps: number) => ({
    step: (): boolean => {
      order.push(name);
      steps -= 1;
      return steps === 0;
    },
  });
  const rounds: number[] = [];
  let watching = true;
  const watch = (): void => {
    rounds.push(order.length);
    if (watching) setImmediate(watch);
  };
  const all = Promise.all([line.run(work('long', 4)), line.run(work('short', 1)), line.run(work('middle', 2))]);
  watch();
  await all;
  watching = false;
  expect(order).toEqual(['long', 'long', 'short', 'middle', 'long', 'middle', 'long']);
  expect(rounds.every((count, index) => index === 0 || count - rounds[index - 1]! <= 1)).toBe(true);
  const failing = {
    step: (): boolean => {
      throw new Error('broken');
    },
  };
  await expect(line.run(failing)).rejects.toThrow('broken');
  await line.run(work('after', 1));
  expect(line.taken).toBe(9);
});

test('a body is put together of chunks of every size', async () => {
  const core = fakeCore(() => answer());
  const server = await startServer(core);
  const text = `{"a":"${Array.from({ length: 60_000 }, (_, index) => String(index)).join(' ')}"}`;
  let wire = headOf('POST', '/v1/a', CHUNKED, KNOWN, 'Connection: close');
  const sizes = [1, 16_383, 1, 16_384, 5, 100_000, 70, 32_768, 99];
  for (let at = 0, index = 0; at < text.length; index += 1) {
    const part = text.slice(at, at + sizes[index % sizes.length]!);
    wire += `${part.length.toString(16)}\r\n${part}\r\n`;
    at += part.length;
  }
  expect(await server.raw(`${wire}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(JSON.stringify(core.calls[0]!.data) === text).toBe(true);
  await server.stop();
});
