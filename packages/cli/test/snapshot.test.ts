import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { writeSnapshot, type SnapshotMeta } from '@strongroom/snapshot-file';
import { encodeEntries } from '@strongroom/storage-sdk';
import { cliLab, type Run } from './fake-server.ts';

const lab = cliLab();
const CREATED = '2026-11-22T12:00:00.000Z';
let folder = '';
let server: Server | undefined;
let received: Buffer[] = [];
let asked: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strongroom-cli-snapshot-'));
  received = [];
  asked = [];
});
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  await rm(folder, { recursive: true });
});

async function snapshot(): Promise<Buffer> {
  const state = encodeEntries(['core/a', 'core/b', 'logical/x/y'].map((key) => ({ key, value: Buffer.from(key) })));
  const meta: SnapshotMeta = {
    ...{ Version: 1, ID: 'strongroom-7', Index: 4, Term: 2, Size: state.length, Format: 'strongroom-1', Entries: 3, Storage: 'lmdb' },
    ...{ ServerVersion: '0.2.0', ClusterID: 'c-1', ClusterName: 'house', CreatedAt: CREATED },
  };
  async function* once(): AsyncGenerator<Uint8Array> {
    yield state;
  }
  const parts: Uint8Array[] = [];
  for await (const part of writeSnapshot({ meta, state: once(), seal: (sums) => sums })) parts.push(part);
  return Buffer.concat(parts);
}

/** A server that answers every call so, and keeps what it gets. */
async function answering(status: number, body: Uint8Array | string, { cut = false } = {}): Promise<string> {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['content-length'] ?? ''}`.trim());
    request.on('data', (chunk: Buffer) => received.push(chunk));
    request.on('end', () => {
      response.writeHead(status, { 'Content-Type': typeof body === 'string' ? 'application/json' : 'application/gzip' });
      if (cut) response.write(body, () => response.socket?.end());
      else response.end(body);
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const run = async (address: string, ...words: string[]): Promise<Run> =>
  lab.run(words, { env: { STRONGROOM_ADDR: address, STRONGROOM_TOKEN: 't' } });

describe('operator snapshot', () => {
  test.each([[['snapshot']], [['raft', 'snapshot']]])('saves a snapshot that arrived whole under its name: operator %j', async (words) => {
    const whole = await snapshot();
    const file = join(folder, 'backup.snap');
    await writeFile(file, 'an older one');
    const { code, stdout, stderr } = await run(await answering(200, whole), 'operator', ...words, 'save', file);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`Success! Saved 3 records of house to ${file}; the checksums are right.\n`);
    expect(asked).toEqual(['GET /v1/sys/storage/raft/snapshot']);
    expect((await readFile(file)).equals(whole)).toBe(true);
    expect(await readdir(folder)).toEqual(['backup.snap']);
  });

  test.each([
    ['was cut off', async () => (await snapshot()).subarray(0, 300), true],
    ['ends early', async () => (await snapshot()).subarray(0, 300), false],
    ['is none', async () => Buffer.from('a page of a proxy, which is long enough'), false],
  ])('leaves nothing of one that %s, and the older one as it is', async (_, body, cut) => {
    const file = join(folder, 'backup.snap');
    await writeFile(file, 'an older one');
    const { code, stdout, stderr } = await run(await answering(200, await body(), { cut }), 'operator', 'snapshot', 'save', file);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^Error saving the snapshot, and nothing is left of it: /);
    expect(await readdir(folder)).toEqual(['backup.snap']);
    expect(await readFile(file, 'utf8')).toBe('an older one');
  });

  test('shows why the server refuses', async () => {
    const address = await answering(409, '{"errors":["a snapshot is being taken"]}');
    const { code, stderr } = await run(address, 'operator', 'snapshot', 'save', join(folder, 'x'));
    expect(code).toBe(2);
    expect(stderr).toContain('Code: 409. Errors:\n\n* a snapshot is being taken');
    expect(await readdir(folder)).toEqual([]);
  });

  test('restores a file as it is, and shows what the server warns of', async () => {
    const whole = await snapshot();
    const file = join(folder, 'backup.snap');
    await writeFile(file, whole);
    const answer = JSON.stringify({ request_id: 'r', data: { sealed: false }, warnings: ['tokens of later are not in it'] });
    const address = await answering(200, answer);
    for (const [flags, path] of [
      [[], 'snapshot'],
      [['-force'], 'snapshot-force'],
    ] as const) {
      received = [];
      const { code, stdout, stderr } = await run(address, 'operator', 'snapshot', 'restore', ...flags, file);
      expect(code).toBe(0);
      expect(stdout).toBe(`Success! Restored 3 records of house from ${CREATED}.\n`);
      expect(stderr).toContain('  * tokens of later are not in it');
      expect(asked.at(-1)).toBe(`POST /v1/sys/storage/raft/${path} ${whole.length}`);
      expect(Buffer.concat(received).equals(whole)).toBe(true);
    }
  });

  test('sends nothing of a file that is damaged or not there', async () => {
    const file = join(folder, 'backup.snap');
    await writeFile(file, (await snapshot()).subarray(0, 200));
    const address = await answering(200, '{}');
    for (const given of [file, join(folder, 'nowhere')]) {
      const { code, stderr } = await run(address, 'operator', 'snapshot', 'restore', given);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^Error reading the snapshot: /);
    }
    const { stderr } = await run(address, 'operator', 'snapshot', 'inspect', join(folder, 'nowhere'));
    expect(stderr).toBe(`Error reading the snapshot: ${join(folder, 'nowhere')}: there is no such file or folder\n`);
    expect(asked).toEqual([]);
  });

  test('inspects a file without a server', async () => {
    const file = join(folder, 'backup.snap');
    await writeFile(file, await snapshot());
    const { code, stdout } = await run('http://127.0.0.1:1', 'operator', 'snapshot', 'inspect', file);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^cluster_name +house$/m);
    expect(stdout).toMatch(/^records core\/ +2$/m);
    expect(stdout).toMatch(/Success! The snapshot is whole, and its checksums are right\.\n$/);
    const json = await run('http://127.0.0.1:1', 'operator', 'snapshot', 'inspect', '-format=json', file);
    expect(JSON.parse(json.stdout)).toMatchObject({ id: 'strongroom-7', entries: 3, created_at: CREATED, 'records logical/': 1 });
  });
});
