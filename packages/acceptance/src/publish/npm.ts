import { spawn } from 'node:child_process';

/** Runs a program to its end. @returns what it wrote. @throws Error with that, when it fails */
export async function run(program: string, words: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Promise<string> {
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${program} ${words.slice(0, 3).join(' ')} … failed (${code}):\n${text.slice(-8_000)}`);
  return text;
}

/** npm, quiet and without what it asks the registry for besides packages. */
export async function npm(words: readonly string[], cwd: string): Promise<string> {
  return run('npm', [...words, '--no-audit', '--no-fund', '--loglevel=error'], { cwd });
}
