import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { fakeCore } from './fake-core.ts';
import { startServer, type RunningServer } from './running-server.ts';

describe('a server with TLS', () => {
  const core = fakeCore();
  let folder: string;
  let server: RunningServer;
  let dispatcher: Agent;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'strongroom-http-'));
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
    execFileSync('openssl', ['req', '-x509', '-days', '1', ...key, '-out', certFile, ...subject], { stdio: 'ignore' });
    const cert = readFileSync(certFile);
    server = await startServer(core, { tls: { cert, key: readFileSync(keyFile) } });
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
});
