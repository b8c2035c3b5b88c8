import { spawn } from 'node:child_process';

/** A program that listens on a port. */
export interface Program {
  log(): string;
  stop(): Promise<void>;
}

/** Starts a program with `PORT` set, and waits until it answers there. @throws Error when it ends before, or after 20 seconds */
export async function startProgram(file: string, port: number): Promise<Program> {
  const child = spawn(process.execPath, [file], { env: { ...process.env, PORT: String(port) }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  const deadline = Date.now() + 20_000;
  while (!(await answers(port))) {
    if (child.exitCode === null && Date.now() < deadline) continue;
    await stop();
    throw new Error(`${file} does not answer: ${text}`);
  }
  return { log: () => text, stop };
}

async function answers(port: number): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  return fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}
