import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { stopGracefully } from '../src/index.ts';
import { answer, fakeCore } from './fake-core.ts';
import { headOf, startServer, type RunningServer } from './running-server.ts';

describe('a server with TLS', () => {
  const core = fakeCore();
  let folder: string;
  let server: RunningServer;
  let dispatcher: Agent;
  let certificate: { cert: Buffer; key: Buffer };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'strongroom-http-'));
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
    execFileSync('openssl', ['req', '-x509', '-days', '1', ...key, '-out', certFile, ...subject], { stdio: 'ignore' });
    const cert = readFileSync(certFile);
    certificate = { cert, key: readFileSync(keyFile) };
    server = await startServer(core, { tls: certificate });
    dispatcher = new Agent({ connect: { ca: cert } });
  });
  afterAll(async () => {
    await dispatcher.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['GET', 'read'],
    ['LIST', 'list'],
    ['GET', 'read'],
  ])('%s is a %s there too', async (method, operation) => {
    const response = await request(`https://127.0.0.1:${server.port}/v1/a`, { method: method as 'GET', dispatcher });
    await response.body.dump();
    expect([response.statusCode, core.calls.at(-1)?.operation]).toEqual([200, operation]);
  });

  test('plain HTTP gets no further, and does no harm', async () => {
    await server.raw('GET /v1/a HTTP/1.1\r\nHost: h\r\n\r\n');
    const response = await request(`https://127.0.0.1:${server.port}/v1/a`, { dispatcher });
    await response.body.dump();
    expect(response.statusCode).toBe(200);
  });

  test('a server that stops closes connections without a finished TLS handshake, and answers what has begun', async () => {
    let release = (): void => undefined;
    let arrived = (): void => undefined;
    const inCore = new Promise<void>((resolve) => (arrived = resolve));
    const slow = fakeCore(async () => {
      arrived();
      await new Promise<void>((resolve) => (release = resolve));
      return answer({ data: { done: true } });
    });
    const stopping = await startServer(slow, { tls: certificate });
    const silent = await stopping.connect();
    const halfway = await stopping.connect();
    halfway.write(Buffer.from([0x16, 0x03, 0x01]));
    const busy = connectTls(stopping.port, '127.0.0.1', { ca: certificate.cert, servername: 'localhost' });
    await once(busy, 'secureConnect');
    busy.write(headOf('GET', '/v1/slow'));
    await inCore;
    const closed = Promise.all([silent, halfway].map((socket) => once(socket.resume(), 'close')));
    const stopped = stopGracefully(stopping.server, 60_000);
    await closed;
    release();
    const [text] = (await once(busy, 'data')) as [Buffer];
    expect(String(text)).toContain('"done":true');
    expect(await stopped).toBe(true);
  });
});
