import { appendFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BadRequest, silentLog, systemClock, type Clock } from '@strongroom/engine-sdk';
import { linuxProcesses } from '../../../src/kernel/incarnation/process-table.ts';
import { BufferFull, type AuditDevice } from '../../../src/services/audit/audit-device.ts';
import { httpAudit } from '../../../src/services/audit/http-device.ts';
import { ManualClock } from './manual-clock.ts';
import { Receiver } from './receiver.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function receiver(port = 0): Promise<Receiver> {
  const started = await Receiver.start(port);
  ends.push(() => started.stop());
  return started;
}

async function open(options: Record<string, string>, clock: Clock = systemClock): Promise<AuditDevice> {
  const device = await httpAudit.open(options, { clock, log: silentLog });
  ends.push(() => device.close());
  return device;
}

async function until(met: () => boolean, clock?: ManualClock): Promise<void> {
  while (!met()) {
    await new Promise((resolve) => setImmediate(resolve));
    clock?.advance(50);
  }
}

describe('an HTTP device without a buffer', () => {
  test('resolves once the receiver has answered, and sends its headers', async () => {
    const to = await receiver();
    const device = await open({ uri: to.uri, headers: '{"Authorization": ["Bearer t"], "X-A": "1"}' });
    await device.write(['one', 'two']);
    await device.write(['three']);
    expect(to.received.map(({ lines }) => lines)).toEqual([['one', 'two'], ['three']]);
    expect(to.received[0]!.headers).toMatchObject({ authorization: 'Bearer t', 'x-a': '1', 'content-type': 'application/x-ndjson' });
    expect(to.received[0]!.key).not.toBe(to.received[1]!.key);
  });

  test.each([302, 401, 500])('fails with status %i, and says nothing of the answer', async (status) => {
    const to = await receiver();
    to.respond = (response) => void response.writeHead(status, { Location: 'http://127.0.0.1:1/' }).end('hostile text');
    const device = await open({ uri: to.uri });
    await expect(device.write(['one'])).rejects.toThrow(`${new URL(to.uri).origin} answered with status ${status}`);
    expect(to.received).toHaveLength(1);
  });

  test('sends once more, with the same key, where the connection was gone', async () => {
    const to = await receiver();
    const device = await open({ uri: to.uri });
    to.respond = (response) => {
      if (to.received.length === 1) response.socket!.destroy();
      else response.end();
    };
    await device.write(['one']);
    expect(new Set(to.received.map(({ key }) => key)).size).toBe(1);
    expect(to.received).toHaveLength(2);
  });

  test('gives up on a receiver that never answers, or never ends its answer', async () => {
    const to = await receiver();
    const clock = new ManualClock();
    const device = await open({ uri: to.uri, write_timeout: '3s' }, clock);
    for (const silent of [() => undefined, (response: { write(text: string): unknown }) => void response.write('x')]) {
      to.respond = silent;
      const count = to.received.length;
      let failure: Error | undefined;
      const write = device.write(['one']).catch((error: Error) => (failure = error));
      await until(() => to.received.length > count);
      await until(() => failure !== undefined, clock);
      await write;
      expect(failure!.message).toContain('no answer within 3 seconds');
    }
  });
});

describe('an HTTP device with a buffer', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'audit-http-'));
    ends.push(() => rm(folder, { recursive: true, force: true }));
  });
  const buffered = (to: Receiver, more: Record<string, string> = {}): Record<string, string> => ({
    uri: to.uri,
    buffer_path: folder,
    flush_interval: '0',
    ...more,
  });
  /** Of a process that has ended, in the folder of a device that was never closed. */
  const orphan = async (): Promise<string> => {
    const [name = ''] = (await readdir(folder)).filter((found) => !found.startsWith('new.'));
    await writeFile(join(folder, name, 'owner'), JSON.stringify({ ...linuxProcesses.own(), pid: 1, started: '0' }));
    return join(folder, name);
  };

  test('keeps lines while the receiver is away, and delivers them in order', async () => {
    const away = await receiver();
    const to = away.uri;
    await away.stop();
    const clock = new ManualClock();
    const device = await open({ uri: to, buffer_path: folder, flush_interval: '0' }, clock);
    for (const line of ['one', 'two', 'three']) await device.write([line]);
    await until(() => device.buffer!()!.failures > 0, clock);
    expect(device.buffer!()).toMatchObject({ bytes: 14, delivered_lines: 0 });
    expect(device.buffer!()!.last_error).toContain(`cannot deliver to ${new URL(to).origin}`);
    const back = await receiver(Number(new URL(to).port));
    await until(() => device.buffer!()!.bytes === 0, clock);
    expect(back.lines).toEqual(['one', 'two', 'three']);
    expect(device.buffer!()).toMatchObject({ delivered_lines: 3, last_error: null, oldest: null });
  });

  test('sends the same lines with the same key until they are taken, and then never again', async () => {
    const to = await receiver();
    to.respond = (response) => void response.writeHead(to.received.length < 4 ? 503 : 200).end();
    const clock = new ManualClock();
    const device = await open(buffered(to), clock);
    await device.write(['one']);
    await until(() => to.received.length === 1, clock);
    await device.write(['two']);
    await until(() => device.buffer!()!.bytes === 0, clock);
    expect(to.received.map(({ lines }) => lines)).toEqual([['one'], ['one'], ['one'], ['one'], ['two']]);
    expect(new Set(to.received.map(({ key }) => key)).size).toBe(2);
  });

  test('tries rarely after many failures, and asks one thing at a time', async () => {
    const to = await receiver();
    to.respond = (response) => void response.writeHead(500).end();
    const clock = new ManualClock();
    const device = await open(buffered(to), clock);
    await device.write(['one']);
    for (let second = 0; second < 600; second += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(100);
      if (second % 10 === 0) await device.write(['more']);
    }
    expect(to.received.length).toBeLessThan(12);
    expect(to.received.every(({ lines }) => lines.length === 1)).toBe(true);
  });

  test('waits as long as the receiver asks', async () => {
    const to = await receiver();
    to.respond = (response) => void response.writeHead(429, { 'Retry-After': '120' }).end();
    const clock = new ManualClock();
    const device = await open(buffered(to), clock);
    await device.write(['one']);
    await until(() => device.buffer!()!.failures === 1, clock);
    const before = clock.millis();
    await until(() => device.buffer!()!.failures === 2, clock);
    expect(clock.millis() - before).toBeGreaterThanOrEqual(119_000);
  });

  test('collects lines for the flush interval', async () => {
    const to = await receiver();
    const clock = new ManualClock();
    const device = await open(buffered(to, { flush_interval: '2s' }), clock);
    for (const line of ['one', 'two', 'three']) await device.write([line]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(to.received).toHaveLength(0);
    await until(() => to.received.length > 0, clock);
    expect(to.received.map(({ lines }) => lines)).toEqual([['one', 'two', 'three']]);
  });

  test('makes batches smaller where the receiver finds them too large', async () => {
    const to = await receiver();
    to.respond = (response, { lines }) => void response.writeHead(lines.length > 2 ? 413 : 200).end();
    const clock = new ManualClock();
    const device = await open(buffered(to, { flush_interval: '1s' }), clock);
    await device.write(['1', '2', '3', '4', '5', '6', '7']);
    await until(() => device.buffer!()!.bytes === 0, clock);
    expect(to.received.filter(({ lines }) => lines.length <= 2).flatMap(({ lines }) => lines)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  });

  test('takes no more than its size, and goes on once something is delivered', async () => {
    const to = await receiver();
    to.respond = (response) => void response.writeHead(500).end();
    const clock = new ManualClock();
    const device = await open(buffered(to, { buffer_size: '1MB' }), clock);
    const line = 'x'.repeat(400_000);
    await device.write([line]);
    await device.write([line]);
    await expect(device.write([line])).rejects.toThrow(BufferFull);
    to.respond = (response) => void response.end();
    await until(() => device.buffer!()!.bytes === 0, clock);
    await device.write([line]);
  });

  test('goes on after a kill with what it acknowledged, older lines first, and leaves out a line that was cut off', async () => {
    const to = await receiver();
    to.respond = () => undefined;
    const clock = new ManualClock();
    const stopped = new ManualClock();
    const killed = await httpAudit.open(buffered(to), { clock: stopped, log: silentLog });
    ends.push(async () => {
      const closed = killed.close();
      await until(() => stopped.waiting === 0, stopped);
      await closed;
    });
    await killed.write(['one', 'two']);
    await until(() => to.received.length === 1);
    const [{ key } = { key: '' }] = to.received.splice(0);
    const left = await orphan();
    const [lines = ''] = (await readdir(left)).filter((name) => name.endsWith('.lines'));
    await appendFile(join(left, lines), 'three, cut o');
    to.respond = (response) => void response.end();
    const next = await open(buffered(to), clock);
    await next.write(['four']);
    await until(() => next.buffer!()!.bytes === 0, clock);
    expect(to.received.map((one) => [one.key === key, ...one.lines])).toEqual([
      [true, 'one', 'two'],
      [false, 'four'],
    ]);
    // The killed one, were it to wake up, does not promise anything any more.
    await expect(killed.write(['five'])).rejects.toThrow('taken over by another process');
  });

  test('ignores what a living process keeps, and what is for another address', async () => {
    const [one, two] = [await receiver(), await receiver()];
    for (const to of [one, two]) to.respond = (response) => void response.writeHead(500).end();
    const clock = new ManualClock();
    const first = await open(buffered(one), clock);
    await first.write(['for one']);
    const other = await open(buffered(two), clock);
    await other.write(['for two']);
    const second = await open(buffered(one), clock);
    expect(second.buffer!()!.bytes).toBe(0);
    for (const to of [one, two]) {
      to.received.splice(0);
      to.respond = (response) => void response.end();
    }
    await until(() => first.buffer!()!.bytes + other.buffer!()!.bytes === 0, clock);
    expect([one.lines, two.lines]).toEqual([['for one'], ['for two']]);
  });

  test('delivers what it can when it is closed, and leaves nothing behind then', async () => {
    const to = await receiver();
    const device = await open(buffered(to, { flush_interval: '60s' }));
    await device.write(['one']);
    await device.close();
    expect(to.lines).toEqual(['one']);
    expect(await readdir(folder)).toEqual([]);
    await expect(device.write(['two'])).rejects.toThrow('the device was closed');
  });

  test('leaves what it could not deliver to the next device of the same address', async () => {
    const to = await receiver();
    to.respond = (response) => void response.writeHead(500).end();
    const clock = new ManualClock();
    const removed = await open(buffered(to), clock);
    await removed.write(['one']);
    await until(() => removed.buffer!()!.failures > 0, clock);
    await removed.close();
    to.received.splice(0);
    to.respond = (response) => void response.end();
    const again = await open(buffered(to), clock);
    await until(() => again.buffer!()!.bytes === 0, clock);
    expect(to.lines).toEqual(['one']);
  });

  test('starts again where its folder was removed', async () => {
    const to = await receiver();
    const clock = new ManualClock();
    const device = await open(buffered(to), clock);
    await rm(folder, { recursive: true });
    await expect(device.write(['lost'])).rejects.toThrow();
    await device.write(['one']);
    await until(() => to.lines.includes('one'), clock);
  });

  test('cannot be opened where its folder is a file', async () => {
    const to = await receiver();
    await writeFile(join(folder, 'file'), '');
    await expect(open(buffered(to, { buffer_path: join(folder, 'file') }))).rejects.toThrow('EEXIST');
    await mkdir(join(folder, 'new'));
    await open(buffered(to, { buffer_path: join(folder, 'new', 'deeper') }));
  });

  test('frees the room of lines that were delivered', async () => {
    const to = await receiver();
    const clock = new ManualClock();
    const device = await open(buffered(to), clock);
    const [slot = ''] = await readdir(folder);
    for (const line of ['one', 'two']) {
      await device.write([line + 'z'.repeat(500_000)]);
      await until(() => device.buffer!()!.bytes === 0, clock);
    }
    await device.write(['three']);
    expect((await readdir(join(folder, slot))).filter((name) => name.endsWith('.lines'))).toEqual(['000000000003.lines']);
    await until(() => device.buffer!()!.bytes === 0, clock);
    expect(to.lines.map((line) => line.replace(/z+$/, ''))).toEqual(['one', 'two', 'three']);
  });

  test('cannot be opened below /proc, and does not try for ever', async () => {
    const to = await receiver();
    await expect(open(buffered(to, { buffer_path: '/proc/none/deeper' }))).rejects.toThrow('ENOENT');
  });

  test('sends a line that is longer than a batch alone', async () => {
    const to = await receiver();
    const clock = new ManualClock();
    const device = await open(buffered(to), clock);
    const long = 'y'.repeat(3 << 20);
    await device.write(['one', long, 'two']);
    await until(() => device.buffer!()!.bytes === 0, clock);
    expect(to.lines).toEqual(['one', long, 'two']);
  });
});

test.each([
  [{}, 'uri is required'],
  [{ uri: 'logs.example.com' }, 'uri must be a URL such as "https://logs.example.com/audit"'],
  [{ address: 'ftp://a/' }, 'address must be a URL such as "https://logs.example.com/audit"'],
  [{ uri: 'https://u:p@a/' }, 'uri must not contain a user or a password, which everybody would see; use headers'],
  [
    { uri: 'http://a/', headers: 'Authorization: x' },
    'headers must be a JSON object of names and values, such as {"Authorization": ["Bearer …"]}',
  ],
  [{ uri: 'http://a/', headers: '{"Host": "x"}' }, 'headers: Host is set by the device'],
  [{ uri: 'http://a/', headers: '{"X-A": ["b\\r\\nc: d"]}' }, 'headers: the value of X-A is no value of a header'],
  [{ uri: 'http://a/', headers: '{"X A": "b"}' }, 'headers: "X A" is not a header name'],
  [{ uri: 'http://a/', tls_ca_cert: '/ca.pem' }, 'uri: TLS options need an address that begins with https://'],
  [{ uri: 'https://a/', tls_client_cert: '/c.pem' }, 'tls_client_cert and tls_client_key belong together: give both, or neither'],
  [{ uri: 'https://a/', tls_skip_verify: 'yes' }, 'tls_skip_verify must be true or false'],
  [{ uri: 'http://a/', batch_size: '5' }, 'batch_size needs buffer_path, the folder on this server where lines wait for delivery'],
  [{ uri: 'http://a/', buffer_path: 'here' }, 'buffer_path must be the absolute path of a folder on this server'],
  [{ uri: 'http://a/', buffer_path: '/b', buffer_size: '10' }, 'buffer_size must be at least 1MB, such as "512MB" or "4GB"'],
  [{ uri: 'http://a/', buffer_path: '/b', buffer_size: '1PB' }, 'buffer_size must be at least 1MB, such as "512MB" or "4GB"'],
  [{ uri: 'http://a/', buffer_path: '/b', batch_size: '0' }, 'batch_size must be a whole number of lines from 1 to 10000'],
  [{ uri: 'http://a/', buffer_path: '/b', flush_interval: '2m' }, 'flush_interval must be from 0 to 60 seconds, such as "1s"'],
  [{ uri: 'http://a/', write_timeout: 'soon' }, 'write_timeout: time: invalid duration "soon"'],
])('the options %j are refused', (options, text) => {
  expect(() => httpAudit.check(options as Record<string, string>)).toThrow(new BadRequest(text));
});

test('headers are never shown', () => {
  expect(httpAudit.shown!({ uri: 'http://a/', headers: '{"Authorization": "secret"}' })).toEqual({ uri: 'http://a/', headers: '<hidden>' });
});
