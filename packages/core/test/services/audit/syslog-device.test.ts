import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BadRequest, silentLog, systemClock } from '@strongroom/engine-sdk';
import { afterEach, describe, expect, test } from '@jest/globals';
import { syslogAudit } from '../../../src/services/audit/syslog-device.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const MESSAGE = /^<(\d+)>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [\x21-\x7e]+ ([\x21-\x7e]+) \d+ audit - (\{.*\})$/;

async function write(options: Record<string, string>, lines: readonly string[]): Promise<void> {
  const device = await syslogAudit.open(options, { clock: systemClock, log: silentLog });
  ends.push(() => device.close());
  await device.write(lines);
}

describe('a syslog device', () => {
  test.each(['tcp', 'unix'])('sends messages of RFC 5424 over %s, one a line', async (socket_type) => {
    const folder = await mkdtemp(join(tmpdir(), 'audit-syslog-'));
    ends.push(() => rm(folder, { recursive: true }));
    let received = (): void => undefined;
    const all = new Promise<void>((resolve) => (received = resolve));
    let text = '';
    const server = createServer((socket) => {
      ends.push(() => socket.destroy());
      socket.on('data', (chunk) => {
        text += String(chunk);
        if (text.split('\n').length === 3) received();
      });
    });
    if (socket_type === 'unix') server.listen(join(folder, 'log'));
    else server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => server.close());
    const address = socket_type === 'unix' ? join(folder, 'log') : `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await write({ address, socket_type, facility: 'local0', tag: 'sr' }, ['{"a":1}', '{"b":2}']);
    await all;
    const messages = text
      .trimEnd()
      .split('\n')
      .map((line) => MESSAGE.exec(line)?.slice(1));
    expect(messages).toEqual([
      [String(16 * 8 + 6), 'sr', '{"a":1}'],
      [String(16 * 8 + 6), 'sr', '{"b":2}'],
    ]);
  });

  test('sends a datagram for each line over UDP', async () => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    ends.push(() => socket.close());
    const message = once(socket, 'message') as Promise<[Buffer]>;
    await write({ address: `127.0.0.1:${socket.address().port}`, socket_type: 'udp' }, ['{"a":1}']);
    expect(MESSAGE.exec(String((await message)[0]).trimEnd())?.slice(1)).toEqual([String(4 * 8 + 6), 'strongroom', '{"a":1}']);
  });

  test('without an address is the socket of the local system', () => {
    expect(() => syslogAudit.check({})).not.toThrow();
  });

  test.each([
    [{ facility: 'LOCAL9' }, /^facility "LOCAL9" is not known; must be one of KERN/],
    [{ tag: 'a b' }, /^tag must be up to 48 printable/],
    [{ address: 'nowhere' }, /^address "nowhere" must be a host and a port/],
    [{ address: 'h:1', socket_type: 'sctp' }, /^socket_type "sctp" is not supported/],
  ])('refuses %j', (options, text) => {
    expect(() => syslogAudit.check(options as Record<string, string>)).toThrow(BadRequest);
    expect(() => syslogAudit.check(options as Record<string, string>)).toThrow(text);
  });
});
