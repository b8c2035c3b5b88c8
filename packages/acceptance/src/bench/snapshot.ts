import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { load, type Figures, type Operation, type Target } from './load.ts';
import { residentMib } from './process-usage.ts';

/** What a snapshot costs the server that takes it. */
export interface SnapshotFigures {
  readonly seconds: number;
  readonly mib: number;
  /** Requests before and after, and while it was taken. */
  readonly alone: number;
  readonly meanwhile: Figures;
  /** The most of the server's memory that was seen. */
  readonly residentMib: number;
}

/** Takes a snapshot while others call, with curl, which throws it away: whoever keeps one is another machine. */
export async function snapshotUnderLoad(target: Target, operation: Operation, seconds: number): Promise<SnapshotFigures> {
  const options = { connections: 16, seconds };
  const before = await load('before', target, operation, options);
  const began = performance.now();
  let took = 0;
  let resident = 0;
  const watching = setInterval(() => (resident = Math.max(resident, residentMib(target.pid))), 250);
  const taking = take(target).finally(() => (took = performance.now() - began));
  const meanwhile = await load('meanwhile', target, operation, { connections: 16, while: () => took === 0 });
  clearInterval(watching);
  const bytes = await taking;
  const after = await load('after', target, operation, options);
  return {
    seconds: took / 1_000,
    mib: bytes / 2 ** 20,
    alone: Math.round((before.perSecond + after.perSecond) / 2),
    meanwhile,
    residentMib: resident,
  };
}

/** The bytes of a snapshot. @throws Error where it fails or breaks off */
async function take({ host, port, token }: Target): Promise<number> {
  const url = `http://${host}:${port}/v1/sys/storage/raft/snapshot`;
  const words = ['-sS', '--fail', '-o', '/dev/null', '-w', '%{size_download}', '-H', `X-Vault-Token: ${token}`, url];
  return Number((await promisify(execFile)('curl', words)).stdout);
}
