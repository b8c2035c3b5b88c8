import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { freePort, startServer, type ServerProcess } from '../src/server-process.ts';

/** A stream of one server, as a client reads it. */
class Followed {
  readonly #over = new AbortController();
  readonly #wakers = new Set<() => void>();
  readonly names: string[] = [];
  readonly kinds: string[] = [];
  id = '';

  static async open(address: string, token: string, cursor?: string): Promise<Followed> {
    const followed = new Followed();
    const headers = { 'X-Vault-Token': token, ...(cursor === undefined ? {} : { 'Last-Event-ID': cursor }) };
    const answer = await fetch(`${address}/v1/sys/events?kinds=secret`, { headers, signal: followed.#over.signal });
    expect(answer.status).toBe(200);
    void followed.#read(answer.body!).catch(() => undefined);
    await followed.until(() => followed.kinds.includes('ready'));
    return followed;
  }

  /** The limit of the test ends a wait that is in vain. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#wakers.add(resolve));
  }

  leave(): void {
    this.#over.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(part, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) this.#take(block);
      for (const wake of this.#wakers) wake();
      this.#wakers.clear();
    }
  }

  #take(block: string): void {
    this.id = /^id: (.*)$/m.exec(block)?.[1] ?? this.id;
    const kind = /^event: (.*)$/m.exec(block)?.[1];
    if (kind === undefined) return;
    this.kinds.push(kind);
    const { name } = JSON.parse(/^data: (.*)$/m.exec(block)![1]!) as { name?: string };
    if (name !== undefined) this.names.push(name);
  }
}

describe.each(['lmdb', 'postgresql'] as const)('events of two processes on one store in %s', (kind) => {
  let folder: string;
  let postgres: PostgresServer | undefined;
  let token: string;
  const servers: ServerProcess[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-events-'));
    if (kind === 'postgresql') postgres = await startPostgres();
    const store = postgres ? `connection_url = "${postgres.url}"` : `path = "${join(folder, 'data')}"`;
    const key = randomBytes(32).toString('base64');
    for (const name of ['one', 'two']) {
      const port = await freePort();
      const config = join(folder, `${name}.hcl`);
      const text = [
        `storage "${kind}" { ${store} }`,
        `seal "static" { current_key_id = "k1", current_key = "${key}" }`,
        `listener "tcp" { address = "127.0.0.1:${port}", tls_disable = true }`,
      ];
      await writeFile(config, `${text.join('\n')}\n`);
      const server = await startServer([`-config=${config}`], `http://127.0.0.1:${port}`);
      servers.push(server);
      if (name === 'two') continue;
      const made = await fetch(`${server.address}/v1/sys/init`, { method: 'PUT', body: '{"recovery_shares":1,"recovery_threshold":1}' });
      token = ((await made.json()) as { root_token: string }).root_token;
      await ask(server, 'sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    }
    // The other process opens by itself as soon as it sees the keys.
    for (;;) {
      if ((await fetch(`${servers[1]!.address}/v1/sys/health`)).status === 200) break;
    }
  }, 120_000);
  afterAll(async () => {
    for (const server of servers) await server.kill();
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const ask = async ({ address }: ServerProcess, path: string, body: object): Promise<void> => {
    const answer = await fetch(`${address}/v1/${path}`, {
      method: 'POST',
      headers: { 'X-Vault-Token': token },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  };
  const put = async (server: ServerProcess, name: string): Promise<void> => ask(server, `secret/data/${name}`, { data: { v: 'hidden' } });

  test('are seen at each of them, continue at the other, and say that some may be missing when one is killed', async () => {
    const [one, two] = servers as [ServerProcess, ServerProcess];
    const [here, there] = [await Followed.open(one.address, token), await Followed.open(two.address, token)];
    for (let index = 0; index < 20; index += 1) await put(index % 2 === 0 ? one : two, `a${index}`);
    const wanted = Array.from({ length: 20 }, (_, index) => `a${index}`).sort();
    await here.until(() => here.names.length >= 20);
    await there.until(() => there.names.length >= 20);
    expect([[...here.names].sort(), [...there.names].sort()]).toEqual([wanted, wanted]);

    here.leave();
    await put(one, 'b');
    await put(two, 'c');
    await there.until(() => there.names.length >= 22);
    const continued = await Followed.open(two.address, token, here.id);
    await continued.until(() => continued.names.length >= 2);
    expect([[...continued.names].sort(), continued.kinds.includes('reset')]).toEqual([['b', 'c'], false]);

    await one.kill();
    await there.until(() => there.kinds.includes('reset'));
    await put(two, 'd');
    await there.until(() => there.names.includes('d'));
    continued.leave();
    there.leave();
  }, 120_000);
});
