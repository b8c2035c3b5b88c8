import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProbeReport } from '../src/bench/usage-probe.ts';
import { freePort, startServer } from '../src/server-process.ts';

/** The built one: the server runs without a compiler. */
const PROBE = new URL('../dist/bench/usage-probe.js', import.meta.url).href;

describe('the memory of a server', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-memory-'));
  });
  afterAll(async () => rm(folder, { recursive: true, force: true }));

  test('a server that has loaded its packages keeps a young generation of at most 16 MiB', async () => {
    const port = await freePort();
    const file = join(folder, 'server.hcl');
    await writeFile(file, `storage "inmem" {}\nlistener "tcp" {\n  address = "127.0.0.1:${port}"\n  tls_disable = true\n}\n`);
    // The operator's own choice of flags would count.
    const { NODE_OPTIONS: _flags, ...env } = process.env;
    const server = await startServer([`-config=${file}`], `http://127.0.0.1:${port}`, { env, preload: PROBE });
    try {
      const answer = once(server.child, 'message') as Promise<[ProbeReport]>;
      server.child.send('usage');
      const [{ youngBytes }] = await answer;
      expect(youngBytes).toBeGreaterThan(0);
      expect(youngBytes).toBeLessThanOrEqual(16 * 2 ** 20);
    } finally {
      await server.stop();
    }
  });
});
