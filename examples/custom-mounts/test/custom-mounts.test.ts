import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { Doors } from '@strongroom/example-embed-in-express';
import { coreRouter } from '@strongroom/http';
import express from 'express';
import { buildingCore } from '../src/building-core.ts';

interface Answer {
  readonly status: number;
  readonly body: {
    readonly lease_id?: string;
    readonly lease_duration?: number;
    readonly data?: { readonly code?: string };
    readonly auth?: { readonly client_token: string };
  };
}

describe('one engine at two paths', () => {
  let doors: Doors;
  let core: Core;
  let server: Server;

  const call = async (method: string, path: string, data?: unknown, token = 'root'): Promise<Answer> => {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
      method,
      headers: { 'X-Vault-Token': token },
      ...(data === undefined ? {} : { body: JSON.stringify(data) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
  };

  beforeEach(async () => {
    doors = new Doors(['front']);
    core = await buildingCore(doors, 'root');
    server = createServer(express().use('/v1', coreRouter(core))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    for (const mount of ['staff', 'visitors']) {
      expect((await call('POST', `house/${mount}/roles/front`, { door: 'front' })).status).toBe(204);
    }
  });
  afterEach(async () => {
    server.close();
    server.closeAllConnections();
    await core.close();
  });

  test('each mount has its own code length and lease length', async () => {
    const staff = await call('GET', 'house/staff/codes/front');
    const visitor = await call('GET', 'house/visitors/codes/front');
    expect(staff.body.data?.code).toHaveLength(12);
    expect(staff.body.lease_duration).toBe(8 * 3600);
    expect(visitor.body.data?.code).toHaveLength(6);
    expect(visitor.body.lease_duration).toBe(600);
  });

  test('a role of one mount is unknown to the other', async () => {
    await call('POST', 'house/staff/roles/night', { door: 'front' });
    expect((await call('GET', 'house/staff/roles/night')).status).toBe(200);
    expect((await call('GET', 'house/visitors/roles/night')).status).toBe(404);
  });

  test('a policy for one mount says nothing about the other', async () => {
    const { body } = await call('POST', 'auth/token/create', { policies: ['reception'] });
    const token = body.auth?.client_token ?? '';
    expect((await call('GET', 'house/visitors/codes/front', undefined, token)).status).toBe(200);
    expect((await call('GET', 'house/staff/codes/front', undefined, token)).status).toBe(403);
  });

  test('unmounting one takes back its codes and leaves the others', async () => {
    const staff = await call('GET', 'house/staff/codes/front');
    const visitor = await call('GET', 'house/visitors/codes/front');
    expect((await call('DELETE', 'sys/mounts/house/visitors')).status).toBe(204);
    await core.settleSchedule();
    expect(doors.opens('front', visitor.body.data?.code ?? '')).toBe(false);
    expect(doors.opens('front', staff.body.data?.code ?? '')).toBe(true);
  });
});
