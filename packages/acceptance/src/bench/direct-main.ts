import { createCore, type Core, type CoreRequest } from '@strongroom/core';
import { kvEngine } from '@strongroom/kv';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import { randomBytes } from 'node:crypto';
import { CALLS, type Call, type WorkloadName } from './workloads.ts';

/**
 * A core over LMDB in a process of its own, called directly: the same calls as over HTTP, without HTTP. Its argument is the store's folder; its parent
 * orders runs by messages.
 */
export interface DirectRun {
  readonly name: WorkloadName;
  readonly seconds: number;
}

export interface DirectFigures {
  readonly operations: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Calls under way at one time, as many as the load has connections. */
const AT_ONCE = 32;

const core = await createCore({
  storage: await lmdbStorage({ path: process.argv[2]! }),
  plugins: [kvEngine],
  seal: { type: 'static', key: randomBytes(32) },
});
const shares = { secretShares: undefined, secretThreshold: undefined, recoveryShares: 1, recoveryThreshold: 1 };
const { rootToken: token } = await core.initialize(shares);
await answered(core, { operation: 'update', path: 'sys/mounts/bench', data: { type: 'kv', options: { version: '2' } } });
for (const call of CALLS['kv write']) await answered(core, requestOf(call));

process.on('message', (message) => {
  if (message === 'usage') return;
  void run(message as DirectRun).then((figures) => process.send?.(figures));
});
process.on('disconnect', () => process.exit(0));
// The probe lets programs end by themselves; this one waits for orders.
process.channel?.ref();
process.send?.('ready');

async function run({ name, seconds }: DirectRun): Promise<DirectFigures> {
  const requests = CALLS[name].map(requestOf);
  const latencies: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1_000;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, first) => {
      for (let next = first; performance.now() < until; next += AT_ONCE) {
        const at = performance.now();
        await answered(core, requests[next % requests.length]!);
        latencies.push(performance.now() - at);
        // As over HTTP, where each request comes in a turn of its own.
        if (next % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1_000;
  latencies.sort((a, b) => a - b);
  const quantile = (q: number): number => latencies[Math.floor((latencies.length - 1) * q)] ?? 0;
  return { operations: latencies.length, perSecond: Math.round(latencies.length / elapsed), p50: quantile(0.5), p99: quantile(0.99) };
}

function requestOf({ method, path, body, ...call }: Call): CoreRequest {
  const operation = method === 'GET' ? 'read' : 'update';
  return { operation, path, ...(body && { data: body }), ...('anonymous' in call ? {} : { token }) };
}

/** @throws Error where the answer is not a success */
async function answered(called: Core, request: CoreRequest): Promise<void> {
  const { status } = await called.handle({ token, ...request });
  if (status !== undefined && status >= 400) throw new Error(`${request.operation} ${request.path}: ${status}`);
}
