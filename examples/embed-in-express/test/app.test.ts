import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { createApp } from '../src/app.ts';
import { Doors } from '../src/doors.ts';

interface Answer {
  readonly status: number;
  readonly body: { lease_id?: string; data?: Record<string, unknown>; errors?: string[] };
}

describe('the app with the secrets API inside', () => {
  const key = randomBytes(32);
  const doors = new Doors(['front']);
  let folder: string;
  let token: string;
  let origin: string;
  let core: Core;
  let server: Server;

  const start = async (): Promise<void> => {
    const made = await createApp({ doors, folder, key, onRootToken: (root) => (token = root) });
    core = made.core;
    server = createServer(made.app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const stop = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await core.close();
  };
  const call = async (method: string, path: string, data?: unknown): Promise<Answer> => {
    const response = await fetch(`${origin}/secrets/v1/${path}`, {
      method,
      headers: { 'X-Vault-Token': token },
      ...(data === undefined ? {} : { body: JSON.stringify(data) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
  };
  const open = async (code: unknown): Promise<number> => {
    const body = JSON.stringify({ code });
    return (await fetch(`${origin}/doors/front/open`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).status;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doors-'));
    await start();
    expect((await call('POST', 'sys/mounts/doors', { type: 'door' })).status).toBe(204);
    expect((await call('POST', 'doors/roles/visitor', { door: 'front', ttl: '10m' })).status).toBe(204);
  });
  afterEach(async () => {
    await stop();
    await rm(folder, { recursive: true });
  });

  test('a code of the engine opens the door of the app until it is revoked', async () => {
    const { status, body } = await call('GET', 'doors/codes/visitor');
    expect(status).toBe(200);
    expect(body.lease_id).toMatch(/^doors\/codes\/visitor\//);
    expect(await open(body.data?.['code'])).toBe(204);
    expect((await call('PUT', 'sys/leases/revoke', { lease_id: body.lease_id })).status).toBe(204);
    expect(await open(body.data?.['code'])).toBe(403);
  });

  test('a caller without a token gets no code', async () => {
    token = '';
    expect((await call('GET', 'doors/codes/visitor')).status).toBe(403);
  });

  test('what was written is there after a restart, and the store opens by itself', async () => {
    await stop();
    await start();
    expect((await call('GET', 'doors/roles/visitor')).body.data).toMatchObject({ door: 'front', ttl: 600 });
  });

  test('it takes at most ten lines', async () => {
    const source = await readFile(new URL('../src/app.ts', import.meta.url), 'utf8');
    const [, region] = /\/\/ embedding begins\n([^]*)\n\s*\/\/ embedding ends/.exec(source)!;
    expect(region!.split('\n').length).toBeLessThanOrEqual(10);
  });
});
