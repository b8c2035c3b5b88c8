import { connect, type Socket } from 'node:net';
import { once as onceEvent } from 'node:events';
import type { BenchServer } from './bench-server.ts';
import { residentMib } from './process-usage.ts';
import { once, type Target } from './load.ts';
import { Probe } from './probe.ts';

const MIB = 1_048_576;

export interface StallFigures {
  readonly name: string;
  /** What the hostile request was answered; 0 for one that got no answer. */
  readonly status: number;
  /** The longest time that `sys/health` took meanwhile, in milliseconds. */
  readonly longest: number;
  /** The most that the server's main thread worked within one of those. */
  readonly busiest: number;
  /** From its first byte to its answer, in milliseconds. */
  readonly took: number;
  readonly residentMib: number;
}

type Sender = 'nobody' | 'token';

/** Bodies that cost far more to take apart than to send. */
function bodies(): Record<string, { readonly body: () => Buffer; readonly type?: string }> {
  const filled = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / unit.length));
  const form = 'application/x-www-form-urlencoded';
  return {
    '{}, 31 MiB': { body: () => Buffer.from(`{"a":[${filled('{},', 31 * MIB)}0]}`) },
    '{}, 1 MiB': { body: () => Buffer.from(`{"a":[${filled('{},', MIB - 100)}0]}`) },
    'values allowed': { body: () => Buffer.from(`{"a":[${'{},'.repeat(490_000)}0]}`) },
    nesting: { body: () => Buffer.from(filled('[', 31 * MIB)) },
    'form, 1m keys': { body: () => Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => `k${index}=%41`).join('&')), type: form },
    'form, 49k keys': { body: () => Buffer.from(Array.from({ length: 49_000 }, (_, index) => `k${index}=%41`).join('&')), type: form },
    'form, long value': { body: () => Buffer.from(`a=${filled('%41', 31 * MIB)}`), type: form },
    numbers: { body: () => Buffer.from(`{"a":[${filled('1.7976931348623157e308,', 31 * MIB)}0]}`) },
    'exact numbers': { body: () => Buffer.from(`{"a":[${'12345678901234567890,'.repeat(99_000)}0]}`) },
    'long escapes': { body: () => Buffer.from(`{"a":"${filled('\\n', 31 * MIB)}"}`) },
    'long \\u escapes': { body: () => Buffer.from(`{"a":"${filled('\\u0001', 31 * MIB)}"}`) },
    'long string': { body: () => Buffer.from(`{"a":"${filled('x', 31 * MIB)}"}`) },
    'broken at end': { body: () => Buffer.from(`{"a":"${filled('x', 31 * MIB)}"`) },
    '1 MiB string': { body: () => Buffer.from(`{"a":"${filled('\\n', MIB - 100)}"}`) },
  };
}

/** The longest stall of others under each hostile body, from nobody and from somebody with a token. */
export async function hostileBodies(bench: BenchServer, each: (figures: StallFigures) => void): Promise<void> {
  const { target } = bench;
  await once(target, 'POST', '/v1/sys/mounts/plain', { type: 'kv' });
  await once(target, 'POST', '/v1/plain/warm', { a: 1 });
  const probe = new Probe(target);
  try {
    await settled();
    await probe.take();
    await settled();
    each({ name: 'nothing', status: 0, ...(await probe.take()), took: 0, residentMib: residentMib(target.pid) });
    for (const [name, { body, type }] of Object.entries(bodies())) {
      for (const sender of ['nobody', 'token'] as const) {
        const bytes = body();
        await settled();
        await probe.take();
        const began = performance.now();
        const status = await send(target, sender, bytes, type);
        const took = performance.now() - began;
        await settled();
        each({ name: `${name}, ${sender}`, status, took, ...(await probe.take()), residentMib: residentMib(target.pid) });
      }
    }
    for (const sender of ['nobody', 'token'] as const) each(await halfSent(target, probe, sender));
  } finally {
    await probe.stop();
  }
}

/** Forty bodies of which nearly all is sent and the end never comes. */
async function halfSent(target: Target, probe: Probe, sender: Sender): Promise<StallFigures> {
  await probe.take();
  const began = performance.now();
  const piece = Buffer.alloc(MIB, 0x20);
  const sockets = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const socket = await opened(target);
      // Refused ones are closed within the body.
      socket.on('error', () => socket.destroy());
      socket.resume();
      socket.setMaxListeners(0);
      socket.write(head(target, sender, undefined));
      for (let sent = 0; sent < 24 && !socket.destroyed; sent += 1) {
        socket.write(`${piece.length.toString(16)}\r\n`);
        socket.write(piece);
        if (!socket.write('\r\n')) await Promise.race([onceEvent(socket, 'drain'), onceEvent(socket, 'close')]).catch(() => undefined);
      }
      return socket;
    }),
  );
  const took = performance.now() - began;
  await settled();
  const figures = { name: `40 half-sent, ${sender}`, status: 0, took, ...(await probe.take()), residentMib: residentMib(target.pid) };
  for (const socket of sockets) socket.destroy();
  await settled();
  return figures;
}

function head({ token }: Target, sender: Sender, length: number | undefined, type = 'application/json'): string {
  return (
    `POST /v1/plain/hostile HTTP/1.1\r\nHost: bench\r\nContent-Type: ${type}\r\n` +
    (length === undefined ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${length}\r\n`) +
    `${sender === 'token' ? `X-Vault-Token: ${token}\r\n` : ''}\r\n`
  );
}

async function opened({ host, port }: Target): Promise<Socket> {
  const socket = connect({ host, port });
  await onceEvent(socket, 'connect');
  return socket;
}

async function send(target: Target, sender: Sender, body: Buffer, type?: string): Promise<number> {
  const socket = await opened(target);
  try {
    const answered = new Promise<number>((resolve) => {
      socket.once('data', (data: Buffer) => resolve(Number(data.toString('latin1', 9, 12))));
      socket.once('close', () => resolve(0));
      socket.on('error', () => socket.destroy());
    });
    socket.write(head(target, sender, body.length, type));
    socket.write(body);
    return await answered;
  } finally {
    socket.destroy();
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 700));
}
