import { createSocket } from 'node:dgram';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BadRequest, silentLog, systemClock, type Clock } from '@strongroom/engine-sdk';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { AuditDevice } from '../../../src/services/audit/audit-device.ts';
import { socketAudit, socketOptions } from '../../../src/services/audit/socket-device.ts';
import { ManualClock } from './manual-clock.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Sink {
  readonly server: Server;
  readonly connections: Socket[];
  readonly address: string;
  text: string;
}

async function sink(at: { port?: number; path?: string } = {}, read = true): Promise<Sink> {
  const connections: Socket[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => {});
    if (read) socket.on('data', (chunk) => (it.text += chunk.toString()));
    else socket.pause();
  });
  if (at.path) server.listen(at.path);
  else server.listen(at.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const it: Sink = { server, connections, address: at.path ?? `127.0.0.1:${(server.address() as AddressInfo).port}`, text: '' };
  ends.push(() => stop(it));
  return it;
}

async function stop({ server, connections }: Sink): Promise<void> {
  for (const socket of connections) socket.destroy();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
}

async function device(options: Record<string, string>, clock: Clock = systemClock): Promise<AuditDevice> {
  const opened = await socketAudit.open(options, { clock, log: silentLog });
  ends.push(() => opened.close());
  return opened;
}

async function until(true_: () => boolean): Promise<void> {
  while (!true_()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a TCP device', () => {
  test('sends lines over one connection', async () => {
    const receiver = await sink();
    const log = await device({ address: receiver.address });
    await log.write(['one', 'two']);
    await log.write(['three']);
    await until(() => receiver.text === 'one\ntwo\nthree\n');
    expect(receiver.connections).toHaveLength(1);
  });

  test('connects again after the other side went away and came back', async () => {
    const first = await sink();
    const log = await device({ address: first.address });
    await log.write(['one']);
    await until(() => first.text === 'one\n');
    await stop(first);
    const port = Number(first.address.split(':')[1]);
    await expect(async () => {
      for (;;) await log.write(['lost']);
    }).rejects.toThrow(`tcp ${first.address}`);
    const second = await sink({ port });
    await log.write(['two']);
    await until(() => second.text === 'two\n');
  });

  test('that nobody listens to fails and names the address', async () => {
    const gone = await sink();
    await stop(gone);
    const log = await device({ address: gone.address });
    await expect(log.write(['one'])).rejects.toThrow(`cannot connect to tcp ${gone.address}: connect ECONNREFUSED`);
  });

  test('whose receiver reads no more fails after its own time limit', async () => {
    const receiver = await sink({}, false);
    const clock = new ManualClock();
    const log = await device({ address: receiver.address, write_timeout: '3s' }, clock);
    await log.write(['hello']);
    await until(() => receiver.connections.length === 1);
    let failure: Error | undefined;
    const write = log.write(['x'.repeat(64 << 20)]).catch((error: Error) => (failure = error));
    // The write that hangs and the one that is tried again on a new connection.
    while (!failure) {
      await new Promise((resolve) => setImmediate(resolve));
      if (clock.waiting > 0) clock.advance(1000);
    }
    await write;
    expect(failure?.message).toBe(`cannot write to tcp ${receiver.address}: no answer within 3 seconds`);
  }, 30_000);

  test('that is reopened or closed ends its connection', async () => {
    const receiver = await sink();
    const log = await device({ address: receiver.address });
    await log.write(['one']);
    await log.reopen();
    await log.write(['two']);
    await until(() => receiver.text === 'one\ntwo\n');
    expect(receiver.connections).toHaveLength(2);
    await log.close();
    await log.close();
    await expect(log.write(['three'])).rejects.toThrow('the device was closed');
  });
});

test('a unix socket gets the lines', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'audit-socket-'));
  ends.push(() => rm(folder, { recursive: true }));
  const receiver = await sink({ path: join(folder, 'audit.sock') });
  const log = await device({ address: receiver.address, socket_type: 'unix' });
  await log.write(['one']);
  await until(() => receiver.text === 'one\n');
});

test('UDP sends a datagram a line', async () => {
  const receiver = createSocket('udp4');
  ends.push(() => new Promise<void>((resolve) => receiver.close(resolve)));
  const received: string[] = [];
  receiver.on('message', (message) => received.push(message.toString()));
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  const log = await device({ address: `127.0.0.1:${receiver.address().port}`, socket_type: 'udp' });
  await log.write(['one', 'two']);
  await until(() => received.length === 2);
  expect(received.sort()).toEqual(['one\n', 'two\n']);
  await expect(log.write(['x'.repeat(70_000)])).rejects.toThrow('EMSGSIZE');
});

test('an address may be of IPv6', () => {
  expect(socketOptions({ address: '[::1]:9090' })).toMatchObject({ host: '::1', port: 9090, timeoutMillis: 2000 });
});

test.each([
  [{}, 'address is required'],
  [{ address: 'nowhere' }, 'address "nowhere" must be a host and a port such as "127.0.0.1:9090"'],
  [{ address: 'a:0' }, 'address "a:0" must be a host and a port such as "127.0.0.1:9090"'],
  [{ address: 'a:1', socket_type: 'sctp' }, 'socket_type "sctp" is not supported; must be one of tcp, udp, unix'],
  [{ address: 'a:1', write_timeout: 'soon' }, 'write_timeout: time: invalid duration "soon"'],
  [{ address: 'a:1', write_timeout: '0' }, 'write_timeout must be at least one second'],
])('the options %j are refused', (options, text) => {
  expect(() => socketAudit.check(options as Record<string, string>)).toThrow(new BadRequest(text));
});
