import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Meter } from '../src/bench/meter.ts';

const PROBE = new URL('../dist/bench/usage-probe.js', import.meta.url).href;

/** A process with a worker, which collects garbage when it is told to, and says how long that took. */
const PROGRAM = `
import cluster from 'node:cluster';
import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
if (cluster.isPrimary) {
  const worker = cluster.fork();
  worker.on('message', ({ kind, took }) => kind && process.send({ kind, took }));
  process.on('message', (message) => message === 'collect' && worker.send(message));
  process.on('disconnect', () => process.exit());
} else {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('message', (message) => {
    if (message !== 'collect') return;
    const began = performance.now();
    for (let i = 0; i < 50; i += 1) collect();
    process.send({ kind: 'collected', took: performance.now() - began });
  });
  process.send({ kind: 'started' });
}
`;

test('a meter adds the time in which workers collected garbage', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-meter-'));
  const file = join(folder, 'program.mjs');
  await writeFile(file, PROGRAM);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--import', PROBE, file], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await once(child, 'message');
    const meter = new Meter(child, undefined);
    const before = await meter.read();
    const collected = once(child, 'message') as Promise<[{ took: number }]>;
    child.send('collect');
    const [{ took }] = await collected;
    const after = await meter.read();
    expect(after.gcMicros - before.gcMicros).toBeGreaterThan((took * 1_000) / 2);
    expect(after.gcMicros - before.gcMicros).toBeLessThan(took * 1_000 * 1.5);
  } finally {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
});
