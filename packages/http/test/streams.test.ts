import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { stopGracefully, type CoreResponse } from '../src/index.ts';
import { answer, fakeCore } from './fake-core.ts';
import { startServer, type RunningServer } from './running-server.ts';

type Body = NonNullable<CoreResponse['stream']>;

describe('an answer that is sent as it comes about', () => {
  let clock: ManualClock;
  let server: RunningServer;
  let body: Body;
  /** What the last body heard of its end. */
  let reason: Promise<string>;

  /** Sends parts until its signal is aborted. */
  const endless = (parts: string[]): Body => {
    let told: (text: string) => void;
    reason = new Promise((resolve) => (told = resolve));
    return {
      contentType: 'text/event-stream',
      async *open(signal) {
        for (const part of parts) yield part;
        if (!signal.aborted) await once(signal, 'abort');
        told((signal.reason as Error).message);
        yield 'last';
      },
    };
  };
  const begin = async (): Promise<{ text: () => string; closed: Promise<void>; leave: () => void }> => {
    const socket = await server.connect();
    let text = '';
    socket.on('data', (data: Buffer) => (text += data.toString()));
    const closed = once(socket, 'close').then(() => undefined);
    socket.write('GET /v1/a HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    return { text: () => text, closed, leave: () => socket.destroy() };
  };

  beforeEach(async () => {
    clock = manualClock();
    server = await startServer(
      fakeCore(async () => answer({ stream: body, headers: { 'X-Own': 'yes' } })),
      { clock },
    );
  });
  afterEach(async () => server.stop());

  test('arrives in parts, under a head that asks proxies and caches to keep none of it', async () => {
    body = endless(['one', 'two']);
    const { text, leave } = await begin();
    expect(text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    for (const header of ['Content-Type: text/event-stream', 'Cache-Control: no-store', 'X-Accel-Buffering: no', 'X-Own: yes'])
      expect(text()).toContain(`${header}\r\n`);
    leave();
    expect(await reason).toBe('the caller went away');
  });

  test('ends when the body does', async () => {
    body = {
      contentType: 'text/plain',
      async *open() {
        yield 'a';
        yield new TextEncoder().encode('b');
      },
    };
    expect(await server.send('GET', '/v1/a')).toMatchObject({ status: 200, text: 'ab' });
  });

  test('is cut off where the body fails, so that nobody takes it for whole', async () => {
    body = {
      contentType: 'text/plain',
      async *open() {
        yield 'a';
        throw new Error('it failed');
      },
    };
    await expect(server.send('GET', '/v1/a')).rejects.toThrow();
  });

  test('ends when the server stops, with what the body still has to say', async () => {
    body = endless(['one']);
    const { text, closed } = await begin();
    expect(await stopGracefully(server.server, 60_000)).toBe(true);
    await closed;
    expect(await reason).toBe('the server is stopping');
    expect(text()).toContain('last');
    expect(text()).toMatch(/\r\n0\r\n\r\n$/);
  });

  test('is cut off where the caller takes nothing for half a minute', async () => {
    const much = 'x'.repeat(1 << 20);
    let sent = 0;
    const over = new Promise<void>((resolve) => {
      body = {
        contentType: 'text/plain',
        async *open() {
          try {
            for (;;) {
              sent += 1;
              yield much;
            }
          } finally {
            resolve();
          }
        },
      };
    });
    const socket = await server.connect();
    socket.pause();
    socket.write('GET /v1/a HTTP/1.1\r\nHost: a\r\n\r\n');
    let before = -1;
    // Until the buffers on the way are full: the other end is the operating system.
    while (before !== sent || sent === 0) {
      before = sent;
      for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    await clock.advance('30s');
    await over;
    socket.destroy();
    expect(sent).toBeLessThan(200);
  });
});
