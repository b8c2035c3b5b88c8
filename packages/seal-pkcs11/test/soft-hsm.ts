import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { findProgram } from '@strongroom/lab';

export const PIN = '4321';
export const LIB = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib64/pkcs11/libsofthsm2.so', '/usr/local/lib/softhsm/libsofthsm2.so'].find(
  existsSync,
);

/** Why tests against SoftHSM cannot run here; undefined when they can. */
export function softHsmMissing(): string | undefined {
  if (LIB === undefined || findProgram('softhsm2-util') === undefined) return 'SoftHSM is not installed (softhsm2)';
  if (findProgram('pkcs11-tool') === undefined) return 'pkcs11-tool is not installed (opensc)';
  try {
    createRequire(import.meta.url)('pkcs11js');
    return undefined;
  } catch {
    return 'pkcs11js could not be compiled at installation';
  }
}

/** A module with one token, in a folder of its own. The library reads where it is once in a process, so a test file has one. */
export async function startSoftHsm() {
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-softhsm-'));
  mkdirSync(join(folder, 'tokens'));
  const conf = join(folder, 'softhsm2.conf');
  writeFileSync(conf, `directories.tokendir = ${join(folder, 'tokens')}\nobjectstore.backend = file\nlog.level = ERROR\n`);
  await setForLibraries('SOFTHSM2_CONF', conf);
  const run = (program: string, words: readonly string[]): void =>
    void execFileSync(findProgram(program)!, words, { env: { ...process.env, SOFTHSM2_CONF: conf }, stdio: 'pipe' });
  run('softhsm2-util', ['--init-token', '--free', '--label', 'strongroom', '--so-pin', '12345678', '--pin', PIN]);
  const tool = (...words: string[]): void =>
    run('pkcs11-tool', ['--module', LIB!, '--token-label', 'strongroom', '--login', '--pin', PIN, ...words]);
  return {
    /** Where a process of its own finds the module: SOFTHSM2_CONF. */
    conf,
    /** The folder of the tokens. */
    tokens: join(folder, 'tokens'),
    aes: (label: string, id: string) => tool('--keygen', '--key-type', 'aes:32', '--label', label, '--id', id),
    rsa: (label: string, id: string) => tool('--keypairgen', '--key-type', 'rsa:2048', '--label', label, '--id', id),
    stop: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What C code reads with getenv: a test's own process.env is a copy, but that of a thread that shares the environment is not. */
async function setForLibraries(name: string, value: string): Promise<void> {
  const script = "const { workerData } = require('node:worker_threads'); process.env[workerData.name] = workerData.value;";
  await once(new Worker(script, { eval: true, env: SHARE_ENV, workerData: { name, value } }), 'exit');
}
