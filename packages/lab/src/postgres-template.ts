import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const kept = fileURLToPath(new URL('../../../.strongroom', import.meta.url));

export interface PostgresTemplateOptions {
  /** The folder of `initdb` and `postgres`. */
  readonly binaries: string;
  readonly superuser: string;
  readonly password: string;
  /** Who the data belong to, where that is another account than ours. */
  readonly account: { readonly uid?: number; readonly gid?: number };
}

/** Makes the data folder of a new server: a copy of what `initdb` made the first time, which takes a quarter of its time. */
export async function copyPostgresTemplate(options: PostgresTemplateOptions, data: string): Promise<void> {
  await copy(await postgresTemplate(options), data, options.account);
}

/** The data folder as `initdb` makes it, kept among the things of this repository that can be made again. */
async function postgresTemplate({ binaries, superuser, password, account }: PostgresTemplateOptions): Promise<string> {
  const { stdout: version } = await run(join(binaries, 'postgres'), ['--version'], { ...account, cwd: '/' });
  const flags = ['-A', 'scram-sha-256', '-U', superuser, '-N', '-E', 'UTF8', '--locale=C'];
  const name = createHash('sha256')
    .update(JSON.stringify([version, flags, password, account]))
    .digest('hex')
    .slice(0, 16);
  const folder = join(kept, `postgresql-data-${name}`);
  if (existsSync(folder)) return folder;
  await mkdir(kept, { recursive: true });
  const scratch = await mkdtemp(`${folder}.making-`);
  // The account may not be able to reach the repository.
  const work = await mkdtemp(join(tmpdir(), 'strongroom-initdb-'));
  try {
    const pw = join(work, 'pw');
    await writeFile(pw, password, { mode: 0o600 });
    if (account.uid !== undefined) await Promise.all([work, pw].map(async (path) => chown(path, account.uid!, account.gid!)));
    await run(join(binaries, 'initdb'), ['-D', join(work, 'data'), ...flags, `--pwfile=${pw}`], { ...account, cwd: work });
    await copy(join(work, 'data'), join(scratch, 'data'), account);
    await rename(join(scratch, 'data'), folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return folder;
  } finally {
    await Promise.all([scratch, work].map(async (path) => rm(path, { recursive: true, force: true })));
  }
}

/** With owners and modes, which the server checks. */
async function copy(from: string, to: string, account: PostgresTemplateOptions['account']): Promise<void> {
  // Only root copies what belongs to another account, and Node.js would make it its own.
  if (account.uid === undefined) await cp(from, to, { recursive: true });
  else await run('cp', ['-a', from, to]);
}
