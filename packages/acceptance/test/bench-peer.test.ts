import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { RunningServer } from '@strongroom/server';
import type { Target } from '../src/bench/load.ts';
import { mount, MOUNTS } from '../src/bench/mounts.ts';
import { leavePeer, removeMounts, requirePeer, type Peer } from '../src/bench/peer.ts';
import { startMemoryServer } from './memory-server.ts';

let server: RunningServer;
let peer: Peer;
let target: Target;

beforeAll(async () => {
  const started = await startMemoryServer();
  server = started.server;
  const address = new URL(started.address);
  peer = { address, token: 'root', pid: undefined };
  const meter = { read: async () => ({ cpuMicros: 0, mainMicros: 0, gcMicros: 0, transactions: 0 }) };
  target = { host: address.hostname, port: Number(address.port), token: 'root', pid: process.pid, meter };
});
afterAll(async () => server.stop());

async function api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const options = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(new URL(`/v1/${path}`, peer.address), { method, headers: { 'X-Vault-Token': 'root' }, ...options });
  return answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>);
}

async function mounted(): Promise<string[]> {
  const [secrets, logins] = await Promise.all([api('GET', 'sys/mounts'), api('GET', 'sys/auth')]);
  return [...Object.keys(secrets['data'] as object), ...Object.keys(logins['data'] as object).map((path) => `auth/${path}`)];
}

async function refusalOf(given: Partial<Peer>): Promise<string> {
  return requirePeer({ ...peer, ...given }).then(
    () => '',
    (error: Error) => error.message,
  );
}

test('a server that answers, takes the token and has room for the mounts is taken', async () => {
  expect(await refusalOf({})).toBe('');
  expect(await refusalOf({ pid: process.pid })).toBe('');
});

test('a server that cannot be compared with is refused, and the sentence says why', async () => {
  expect(await refusalOf({ pid: 2 ** 31 - 1 })).toMatch(/^--pid: no process 2147483647 has used the CPU of this machine/);
  expect(await refusalOf({ token: 'wr0ng' })).toBe(`--token: the server at ${peer.address.origin} refuses it; it must be a root token`);
  let status = 503;
  const other = createServer((_, response) => response.writeHead(status, { Connection: 'close' }).end()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = new URL(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
  expect(await refusalOf({ address })).toBe(
    `--against: the server at ${address.origin} is not ready (sys/health answers 503): initialize and unseal it`,
  );
  status = 404;
  expect(await refusalOf({ address })).toBe(
    `--against: what answers at ${address.origin} does not list its mounts: sys/mounts answers 404`,
  );
  other.close().closeAllConnections();
  await once(other, 'close');
  expect(await refusalOf({ address })).toBe(
    `--against: no server answers at ${address.origin}: connect ECONNREFUSED 127.0.0.1:${address.port}`,
  );
});

test('what a run that was killed has left is removed, and named', async () => {
  await mount(target, MOUNTS.secrets, 'kv', { version: '2' });
  await mount(target, MOUNTS.database, 'database');
  await mount(target, MOUNTS.logins, 'ldap');
  expect(await refusalOf({})).toBe('');
  expect([...(await removeMounts(peer))].sort()).toEqual(['auth/bench-ldap', 'bench', 'bench-database']);
  expect((await mounted()).filter((path) => path.includes('bench'))).toEqual([]);
});

test('mounts that no run has made stay, and the server is refused if they are in the way', async () => {
  await api('POST', 'sys/mounts/ldap', { type: 'kv' });
  await api('POST', 'sys/mounts/bench', { type: 'kv', description: 'of a team' });
  await mount(target, MOUNTS.transit, 'transit');
  expect(await removeMounts(peer)).toEqual(['bench-transit']);
  expect(await mounted()).toEqual(expect.arrayContaining(['ldap/', 'bench/']));
  expect(await refusalOf({})).toBe(
    `--against: the server at ${peer.address.origin} already has a mount at bench that no run made: remove it, or use an empty server`,
  );
});

test('a run that cannot remove its mounts says where they may still be', async () => {
  const said = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  await leavePeer({ ...peer, token: 'revoked' });
  expect(said).toHaveBeenCalledWith(
    `The mounts of this run may still be in the server at ${peer.address.origin}: sys/mounts answers 403. The next run removes them.\n`,
  );
  said.mockRestore();
});
