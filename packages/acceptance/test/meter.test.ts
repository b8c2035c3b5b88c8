import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Meter } from '../src/bench/meter.ts';

const PROBE = new URL('../dist/bench/usage-probe.js', import.meta.url).href;

/** A process with a worker, which collects garbage on request, and says how long that took. */
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

/** A process that fills lists on request. */
const ALLOCATING = `
function fillLists(count) {
  let last;
  for (let i = 0; i < count; i += 1) last = new Array(1_000).fill(i);
  return last;
}
process.on('message', (message) => message === 'fill' && process.send({ filled: fillLists(2_000).length }));
process.on('disconnect', () => process.exit());
process.channel.ref();
process.send({ kind: 'started' });
`;

/** The meter of a process that runs this text, and the process. */
async function measured(text: string, work: (meter: Meter, child: ChildProcess) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-meter-'));
  const file = join(folder, 'program.mjs');
  await writeFile(file, text);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--import', PROBE, file], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await once(child, 'message');
    await work(new Meter(child, undefined), child);
  } finally {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

test('a meter adds the time in which workers collected garbage', async () =>
  measured(PROGRAM, async (meter, child) => {
    const before = await meter.read();
    const collected = once(child, 'message') as Promise<[{ took: number }]>;
    child.send('collect');
    const [{ took }] = await collected;
    const after = await meter.read();
    expect(after.gcMicros - before.gcMicros).toBeGreaterThan((took * 1_000) / 2);
    expect(after.gcMicros - before.gcMicros).toBeLessThan(took * 1_000 * 1.5);
  }));

test('a meter names the function that allocates most, with what is garbage already', async () =>
  measured(ALLOCATING, async (meter, child) => {
    const [largest] = await meter.allocations(async () => {
      const filled = once(child, 'message');
      child.send('fill');
      await filled;
    });
    expect(largest!.name).toMatch(/^fillLists /);
    // 2,000 lists of 1,000 numbers, of at least four bytes each.
    expect(largest!.bytes).toBeGreaterThan(8_000_000 / 2);
  }));
