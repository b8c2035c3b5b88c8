import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { bundledServer } from '@strongroom/lab';
import { scratchFolder } from './scratch.ts';

jest.setTimeout(60_000);

const folder = scratchFolder();
const children: ChildProcess[] = [];
const receivers: Server[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const receiver of receivers.splice(0)) {
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  }
});
const FILE = join(folder, 'audit.log');

interface Receiver {
  uri: string;
  readonly keys: string[];
  /** Lines in the order in which they came, those of each idempotency key once. */
  readonly batches: string[][];
  /** Every batch is refused. */
  down: boolean;
  came: () => void;
}

async function receiver(): Promise<Receiver> {
  const it: Receiver = { uri: '', keys: [], batches: [], down: true, came: () => undefined };
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      if (it.down) return void response.writeHead(503).end();
      const key = String(request.headers['idempotency-key']);
      if (!it.keys.includes(key)) it.batches.push(text.split('\n').slice(0, -1));
      it.keys.push(key);
      response.end();
      it.came();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  receivers.push(server);
  it.uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return it;
}

async function startServer(uri: string): Promise<{ url: string; child: ChildProcess }> {
  writeFileSync(
    join(folder, 'server.hcl'),
    `storage "lmdb" { path = ${JSON.stringify(join(folder, 'store'))} }
listener "tcp" { address = "127.0.0.1:0", tls_disable = true }
seal "static" { current_key_id = "1", current_key = "${'ab'.repeat(32)}" }
audit "file" "file" { file_path = ${JSON.stringify(FILE)} }
audit "http" "logs" { uri = "${uri}", buffer_path = ${JSON.stringify(join(folder, 'buffer'))}, flush_interval = "0s" }
`,
  );
  const child = spawn(process.execPath, [await bundledServer(), 'server', `-config=${join(folder, 'server.hcl')}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  children.push(child);
  let text = '';
  for await (const chunk of child.stdout!) {
    text += String(chunk);
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
    if (found) return { url: found[0], child };
  }
  throw new Error(`the server did not start: ${text}`);
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Writes until the server is gone; resolves with the ids of the requests that it answered. */
async function writeUntilKilled(url: string, token: string, child: ChildProcess): Promise<string[]> {
  const answered: string[] = [];
  const one = async (worker: number): Promise<void> => {
    for (let count = 0; ; count += 1) {
      const answer = await fetch(`${url}/v1/sys/policies/acl/p${worker}-${count}`, {
        method: 'POST',
        headers: { 'X-Vault-Token': token },
        body: JSON.stringify({ policy: `path "a/${'x'.repeat(2_000)}" { capabilities = ["read"] }` }),
      });
      if (answer.status !== 204) throw new Error(String(answer.status));
      answered.push(answer.headers.get('x-strongroom-request-id')!);
      if (answered.length === 60) child.kill('SIGKILL');
    }
  };
  await Promise.allSettled([0, 1, 2, 3].map(one));
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return answered;
}

function idsOf(lines: readonly string[]): Map<string, number> {
  const ids = new Map<string, number>();
  for (const line of lines) {
    const { request } = JSON.parse(line) as { request: { id: string } };
    ids.set(request.id, (ids.get(request.id) ?? 0) + 1);
  }
  return ids;
}

test('a server that is killed while it writes loses no line of a request that it answered, in a file or in a buffer', async () => {
  const to = await receiver();
  const first = await startServer(to.uri);
  const init = await fetch(`${first.url}/v1/sys/init`, {
    method: 'POST',
    body: JSON.stringify({ recovery_shares: 1, recovery_threshold: 1 }),
  });
  const { root_token: token } = (await init.json()) as { root_token: string };
  const answered = await writeUntilKilled(first.url, token, first.child);
  expect(answered.length).toBeGreaterThanOrEqual(60);

  // As if the end of the process had cut the last line.
  truncateSync(FILE, statSync(FILE).size - 20);
  to.down = false;
  const second = await startServer(to.uri);
  expect((await fetch(`${second.url}/v1/sys/mounts`, { headers: { 'X-Vault-Token': token } })).status).toBe(200);

  const lines = readFileSync(FILE, 'utf8').split('\n').slice(0, -1);
  const broken = lines.filter((line) => !line.endsWith('}'));
  expect(broken).toHaveLength(1);
  const inFile = idsOf(lines.filter((line) => line !== broken[0]));
  expect(answered.filter((id) => !inFile.has(id))).toEqual([]);
  // Until the new server has delivered all that the killed one left.
  await new Promise<void>((resolve) => {
    to.came = () => {
      const ids = idsOf(to.batches.flat());
      if (answered.every((id) => ids.get(id) === 2)) resolve();
    };
    to.came();
  });
  await kill(second.child);
  const delivered = to.batches.flat().map((line) => Date.parse((JSON.parse(line) as { time: string }).time));
  expect(delivered).toEqual(delivered.toSorted((a, b) => a - b));
});
