import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';
import { freePorts } from './loopback.ts';
import { startProcess } from './server-process.ts';

/** A development server of OpenBao: in memory, unsealed, with version-2 key-value secrets at `secret/`. */
export interface OpenbaoServer {
  readonly address: string;
  readonly rootToken: string;
  /** Idempotent. */
  stop(): Promise<void>;
}

const program = (): string | undefined => process.env['STRONGROOM_OPENBAO'] ?? findProgram('bao');

/** Why no OpenBao can be started here; undefined when it can. */
export function openbaoMissing(): string | undefined {
  return program() === undefined ? 'bao is not installed, and STRONGROOM_OPENBAO names none' : undefined;
}

/** Starts OpenBao on a free loopback port. */
export async function startOpenbao(): Promise<OpenbaoServer> {
  const bao = program();
  if (bao === undefined) throw new Error(openbaoMissing());
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-openbao-'));
  const rootToken = 'root';
  const [port] = (await freePorts(1)) as [number];
  const args = ['server', '-dev', '-dev-no-store-token', `-dev-root-token-id=${rootToken}`, `-dev-listen-address=127.0.0.1:${port}`];
  const running = await startProcess(bao, { args, cwd: folder, ready: 'Development mode should NOT be used' });
  return {
    address: `http://127.0.0.1:${port}`,
    rootToken,
    stop: async () => {
      await running.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
