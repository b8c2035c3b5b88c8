import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, startServer, type ServerProcess } from '../server-process.ts';

const TOKEN = 'root-of-this-run';
const call = promisify(execFile);

/** A development server of the packages that are installed in a folder, and its command line. */
export interface SmallServer {
  /** `strongroom …`; what it wrote. */
  ask(...words: string[]): Promise<string>;
  /** The same, which must be refused. @throws Error when it is not, or without these words */
  refused(reason: string, ...words: string[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startSmallServer(folder: string, configuration?: string): Promise<SmallServer> {
  const command = join(folder, 'node_modules', '@strongroom', 'cli', 'bin', 'strongroom.js');
  const port = await freePort();
  const words = ['-dev', `-dev-root-token-id=${TOKEN}`, `-dev-listen-address=127.0.0.1:${port}`];
  if (configuration !== undefined) {
    await writeFile(join(folder, 'server.hcl'), configuration);
    words.push(`-config=${join(folder, 'server.hcl')}`);
  }
  const server: ServerProcess = await startServer(words, `http://127.0.0.1:${port}`, { cwd: folder, command });
  const env = { ...process.env, STRONGROOM_ADDR: server.address, STRONGROOM_TOKEN: TOKEN };
  const ask = async (...asked: string[]): Promise<string> =>
    (await call(process.execPath, [command, ...asked], { cwd: folder, env })).stdout;
  return {
    ask,
    async refused(reason, ...asked) {
      const said = await ask(...asked).catch((error: Error & { stderr?: string }) => error.stderr ?? error.message);
      if (!said.includes(reason))
        throw new Error(`strongroom ${asked.join(' ')}: should have been refused with "${reason}", and said ${said}`);
    },
    stop: async () => server.stop(),
  };
}

/** Starts a server with a configuration that it cannot use. @returns what it said */
export async function failedStart(folder: string, configuration: string): Promise<string> {
  const command = join(folder, 'node_modules', '@strongroom', 'cli', 'bin', 'strongroom.js');
  await writeFile(join(folder, 'server.hcl'), configuration);
  return call(process.execPath, [command, 'server', `-config=${join(folder, 'server.hcl')}`], { cwd: folder, timeout: 20_000 }).then(
    ({ stdout }) => {
      throw new Error(`a server that cannot start ended in order: ${stdout}`);
    },
    (error: Error & { stderr?: string }) => error.stderr ?? error.message,
  );
}
