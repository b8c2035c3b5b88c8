import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BadRequest, type Log } from '@strongroom/engine-sdk';
import { MemoryView } from '@strongroom/engine-testkit';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AuditBroker, RequestNotAudited, ResponseNotAudited, type AuditBrokerOptions } from '../../../src/services/audit/audit-broker.ts';
import type { AuditEntry } from '../../../src/services/audit/audit-entry.ts';
import { BufferFull } from '../../../src/services/audit/audit-device.ts';
import { fileAudit } from '../../../src/services/audit/file-device.ts';
import { httpAudit } from '../../../src/services/audit/http-device.ts';
import { socketAudit } from '../../../src/services/audit/socket-device.ts';
import { fakeAudit, FakeDevice } from './fake-device.ts';
import { ManualClock } from './manual-clock.ts';
import { Receiver } from './receiver.ts';

const entry: AuditEntry = { auth: {}, request: { id: 'r', operation: 'read', path: 'secret/a', token: 'the-token' } };
const answer: AuditEntry = { ...entry, response: { data: { a: 'hidden' } } };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let storage: MemoryView;
let clock: ManualClock;
let devices: Record<string, FakeDevice>;
let said: string[];
const log: Log = {
  debug: () => {},
  info: (message) => void said.push(message),
  warn: (message) => void said.push(message),
  error: (message) => void said.push(message),
};

beforeEach(() => {
  storage = new MemoryView();
  clock = new ManualClock();
  devices = { one: new FakeDevice(), two: new FakeDevice() };
  said = [];
});

async function broker(options: Partial<AuditBrokerOptions> = {}): Promise<AuditBroker> {
  const made = new AuditBroker({ storage, clock, log, plugins: [fileAudit, socketAudit, httpAudit, fakeAudit(devices)], ...options });
  await made.load();
  return made;
}
const fake = (is: string): { type: string; options: Record<string, string> } => ({ type: 'fake', options: { is } });

describe('writing', () => {
  test('without devices costs nothing and refuses nothing', async () => {
    const it = await broker();
    expect(it.enabled).toBe(false);
    await it.request(entry);
    await it.response(answer);
  });

  test('goes to every device, each with digests of its own', async () => {
    const it = await broker();
    await it.enable('a', fake('one'));
    await it.enable('b', fake('two'));
    expect(it.enabled).toBe(true);
    await it.request(entry);
    await it.response(answer);
    const tokens = [devices['one'], devices['two']].map((device) => {
      const lines = device?.lines.slice(1).map((line) => JSON.parse(line) as { type: string; request: { client_token: string } });
      expect(lines?.map((line) => line.type)).toEqual(['request', 'response']);
      return lines?.[0]?.request.client_token;
    });
    expect(tokens).toEqual([it.hash('a', 'the-token'), it.hash('b/', 'the-token')]);
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  test('that a full disk prevents tells the caller and everybody why, until there is room again', async () => {
    const it = await broker();
    await it.enable('a', fake('one'));
    expect(it.warnings()).toEqual([]);
    devices['one']!.error = Object.assign(new Error('write'), { code: 'ENOSPC' });
    await expect(it.request(entry)).rejects.toThrow('the request cannot be audited: no space is left on the disk of an audit device');
    expect(it.warnings()).toEqual(['an audit device cannot write: no space is left on its disk']);
    devices['one']!.error = new Error('another failure');
    await expect(it.request(entry)).rejects.toThrow('internal error');
    expect(it.warnings()).toEqual(['an audit device cannot write']);
    devices['one']!.error = undefined;
    await it.request(entry);
    expect(it.warnings()).toEqual([]);
  });

  test('that a full buffer prevents says so as well, and lines that are not delivered are a warning', async () => {
    const it = await broker();
    await it.enable('a', fake('one'));
    const device = devices['one']!;
    device.error = new BufferFull('the buffer is full');
    await expect(it.request(entry)).rejects.toThrow('the request cannot be audited: the buffer of an audit device is full');
    await expect(it.response(answer)).rejects.toThrow('the request cannot be audited: the buffer of an audit device is full');
    expect(it.warnings()).toEqual(['an audit device cannot write: its buffer is full']);
    device.error = undefined;
    device.kept = {
      bytes: 1,
      most_bytes: 2,
      oldest: null,
      delivered_lines: 0,
      deliveries: 0,
      failures: 1,
      last_error: 'away',
      last_error_time: '',
    };
    await it.request(entry);
    expect(it.warnings()).toEqual(['an audit device cannot deliver what it keeps in its buffer']);
    expect(it.list()[0]!.status.buffer).toEqual(device.kept);
  });

  test('goes on while one device fails, and is refused when all do', async () => {
    const it = await broker();
    await it.enable('a', fake('one'));
    await it.enable('b', fake('two'));
    devices['one']!.error = new Error('no space left');
    await it.request(entry);
    expect(it.list().map((device) => device.status.state)).toEqual(['failing', 'healthy']);
    devices['two']!.error = new Error('no space left');
    await expect(it.request(entry)).rejects.toBeInstanceOf(RequestNotAudited);
    await expect(it.response(answer)).rejects.toBeInstanceOf(ResponseNotAudited);
    devices['one']!.error = undefined;
    await it.request(entry);
    expect(said).toEqual(['audit device cannot write', 'audit device cannot write', 'audit device writes again']);
  });

  test('is refused with the texts of the wire', async () => {
    expect(new RequestNotAudited()).toMatchObject({ status: 500, errors: ['1 error occurred:\n\t* internal error\n\n'] });
    expect(new ResponseNotAudited()).toMatchObject({ status: 500, errors: ['internal error'] });
  });

  test('waits for a device that hangs only once, and catches up when it goes on', async () => {
    const it = await broker();
    await it.enable('a', fake('one'));
    await it.enable('b', fake('two'));
    devices['one']!.block();
    let done = false;
    const first = it.request(entry).then(() => (done = true));
    await turn();
    expect(done).toBe(false);
    clock.advance(5000);
    await first;
    for (let count = 0; count < 20; count += 1) await it.request(entry);
    expect(it.list().map((device) => device.status.state)).toEqual(['stalled', 'healthy']);
    devices['one']!.unblock();
    await turn();
    expect(it.list().map((device) => device.status.state)).toEqual(['healthy', 'healthy']);
    expect(devices['one']!.lines).toHaveLength(22);
    expect(devices['two']!.lines).toHaveLength(22);
  });

  test('to a single device that hangs is refused at the deadline, then at once', async () => {
    const it = await broker({ limits: { deadlineMillis: 1000 } });
    await it.enable('a', fake('one'));
    devices['one']!.block();
    const first = it.request(entry);
    await turn();
    clock.advance(1000);
    await expect(first).rejects.toBeInstanceOf(RequestNotAudited);
    await expect(it.request(entry)).rejects.toBeInstanceOf(RequestNotAudited);
  });

  test('holds a bounded number of lines for a device that hangs', async () => {
    const it = await broker({ limits: { lines: 10 } });
    await it.enable('a', fake('one'));
    await it.enable('b', fake('two'));
    devices['one']!.block();
    const first = it.request(entry);
    await turn();
    clock.advance(5000);
    await first;
    for (let count = 0; count < 100; count += 1) await it.request(entry);
    expect(it.list()[0]?.status).toMatchObject({ waiting: 11, dropped: 90 });
    expect(devices['two']!.lines).toHaveLength(102);
  });
});

describe('enabling and disabling', () => {
  test('writes the test line, and shows the device', async () => {
    const it = await broker();
    await it.enable('file/', { ...fake('one'), description: 'for the auditors', local: true });
    expect(JSON.parse(devices['one']!.lines[0] ?? '')).toMatchObject({
      type: 'request',
      auth: { token_type: 'default' },
      request: { operation: 'update', path: 'sys/audit/test' },
    });
    expect(it.list()).toEqual([
      {
        path: 'file/',
        type: 'fake',
        description: 'for the auditors',
        options: { is: 'one' },
        local: true,
        status: { state: 'healthy', written: 1, failed: 0, dropped: 0, waiting: 0, last_error: null, last_error_time: null },
      },
    ]);
  });

  test.each([
    ['a', { type: 'nope' }, 'unknown backend type: "nope"'],
    ['a', { type: 'file' }, 'file_path is required'],
    ['a', { type: 'socket' }, 'address is required'],
    ['a', { type: 'fake', options: { prefix: 'x' } }, 'audit log prefixing is not allowed'],
    ['a', { type: 'fake', options: {} }, 'audit backend failed test message: nothing to open'],
    ['/', { type: 'fake', options: { is: 'one' } }, 'backend path must be specified'],
  ])('%j with %j is refused and leaves nothing', async (path, config, text) => {
    const it = await broker();
    await expect(it.enable(path, config as never)).rejects.toEqual(new BadRequest(text));
    expect(it.enabled).toBe(false);
    expect([...storage.store.records.keys()]).toEqual([]);
  });

  test('a receiver that does not take the test line is refused, and nothing of it stays; headers are never shown', async () => {
    const to = await Receiver.start();
    const folder = await mkdtemp(join(tmpdir(), 'audit-broker-'));
    const options = { uri: to.uri, headers: '{"Authorization": "Bearer hidden"}', buffer_path: folder };
    const it = await broker();
    to.respond = (response) => void response.writeHead(403).end();
    await expect(it.enable('a', { type: 'http', options })).rejects.toThrow('audit backend failed test message');
    expect([it.list(), await readdir(folder)]).toEqual([[], []]);
    to.respond = (response) => void response.end();
    await it.enable('a', { type: 'http', options });
    expect(it.list()[0]!.options).toEqual({ ...options, headers: '<hidden>' });
    await it.close();
    await to.stop();
    await rm(folder, { recursive: true });
  });

  test('a path is given once, even to callers of the same moment', async () => {
    const it = await broker();
    const results = await Promise.allSettled([it.enable('a', fake('one')), it.enable('a', fake('two'))]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected']);
    await expect(it.enable('a/', fake('two'))).rejects.toEqual(new BadRequest('path already in use'));
  });

  test('a device that does not take the test line in time is refused', async () => {
    const it = await broker();
    devices['one']!.block();
    const enabling = it.enable('a', fake('one'));
    for (let count = 0; count < 10; count += 1) await turn();
    clock.advance(5000);
    await expect(enabling).rejects.toThrow('audit backend failed test message: the device has not answered within 5 seconds');
    expect(devices['one']!.closed).toBe(1);
  });

  test('by API can be turned off', async () => {
    const it = await broker({ apiCreation: false });
    await expect(it.enable('a', fake('one'))).rejects.toEqual(
      new BadRequest('cannot enable audit device via API; use declarative, config-based audit device management instead'),
    );
  });

  test('a device that hangs is removed all the same', async () => {
    const it = await broker();
    await it.enable('a', fake('one'));
    devices['one']!.block();
    const lost = it.request(entry);
    await turn();
    clock.advance(5000);
    await expect(lost).rejects.toBeInstanceOf(RequestNotAudited);
    await it.disable('a');
    expect(devices['one']!.closed).toBe(1);
    expect(it.enabled).toBe(false);
    await it.request(entry);
    await it.disable('a');
  });

  test('a real file gets the lines', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'audit-broker-'));
    const path = join(folder, 'audit.log');
    const it = await broker();
    await it.enable('file', { type: 'file', options: { file_path: path } });
    await it.request(entry);
    await it.response(answer);
    await it.close();
    const text = await readFile(path, 'utf8');
    expect(text.split('\n')).toHaveLength(4);
    expect(text).not.toMatch(/hidden|the-token/);
    await rm(folder, { recursive: true });
  });
});

describe('over a restart', () => {
  test('devices and their digests stay', async () => {
    const before = await broker();
    await before.enable('a', fake('one'));
    const digest = before.hash('a', 'value');
    await before.close();
    expect(before.enabled).toBe(false);
    const after = await broker();
    expect(after.hash('a', 'value')).toBe(digest);
    await after.disable('a');
    expect((await broker()).enabled).toBe(false);
  });

  test('a device that cannot be opened stops no start, but the requests', async () => {
    await (await broker()).enable('a', fake('one'));
    const lost = devices['one']!;
    delete devices['one'];
    const it = await broker();
    await expect(it.request(entry)).rejects.toBeInstanceOf(RequestNotAudited);
    expect(it.list()[0]?.status).toMatchObject({ state: 'failing', last_error: 'nothing to open' });
    devices['one'] = lost;
    await it.request(entry);
  });

  test('a damaged record stops no start, but the requests', async () => {
    await (await broker()).enable('a', fake('one'));
    const [key] = storage.store.records.keys();
    storage.store.records.set(key!, { json: '{"type":1}', version: 99 });
    const it = await broker();
    expect(said).toContain('a stored audit device cannot be read');
    await expect(it.request(entry)).rejects.toBeInstanceOf(RequestNotAudited);
    await it.disable('a');
    await it.request(entry);
  });

  test('the configuration can remove a stored device', async () => {
    await (await broker()).enable('a', fake('one'));
    const it = await broker({ emergencyDisable: ['a/'] });
    expect(it.enabled).toBe(false);
    expect((await broker()).enabled).toBe(false);
  });

  test('devices of the configuration are there, keep their digests and cannot be disabled', async () => {
    const configured = { 'conf/': fake('one') };
    const it = await broker({ configured });
    const digest = it.hash('conf', 'value');
    await expect(it.disable('conf')).rejects.toEqual(new BadRequest('cannot disable configuration-managed audit device'));
    await expect(it.enable('conf', fake('two'))).rejects.toEqual(new BadRequest('path already in use'));
    await it.request(entry);
    expect(devices['one']!.lines).toHaveLength(1);
    expect((await broker({ configured })).hash('conf', 'value')).toBe(digest);
  });

  test('a wrong device in the configuration is complained about before anything starts', () => {
    const options = { storage, clock, log, plugins: [fileAudit] };
    expect(() => new AuditBroker({ ...options, configured: { a: { type: 'file' } } })).toThrow('file_path is required');
    expect(() => new AuditBroker({ ...options, configured: { '/': { type: 'file' } } })).toThrow('an audit device needs a path');
  });
});

describe('with other processes', () => {
  test('devices and headers appear and go as they change there', async () => {
    const here = await broker();
    const there = await broker();
    await there.enable('a', fake('one'));
    await there.headers.put('X-Trace', { hmac: true });
    here.invalidate('device/a');
    here.invalidate('header/x-trace');
    for (let count = 0; count < 10; count += 1) await turn();
    expect(here.list().map((device) => device.path)).toEqual(['a/']);
    expect(here.hash('a', 'value')).toBe(there.hash('a', 'value'));
    expect([...here.headers.rules]).toEqual([['x-trace', { hmac: true }]]);
    await there.disable('a');
    await there.headers.delete('x-trace');
    here.invalidate('device/a');
    here.invalidate('header/x-trace');
    for (let count = 0; count < 10; count += 1) await turn();
    expect(here.enabled).toBe(false);
    expect(here.headers.rules.size).toBe(0);
  });
});

test('log rotation reaches every device', async () => {
  const it = await broker();
  await it.enable('a', fake('one'));
  await it.enable('b', fake('two'));
  await it.reopen();
  expect([devices['one']?.reopened, devices['two']?.reopened]).toEqual([1, 1]);
});
