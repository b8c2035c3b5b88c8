import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** IAM and STS as `emulated-aws-main.ts` emulates them. */
export interface EmulatedAws {
  readonly endpoint: string;
  /** The most calls that it had before it at one time. */
  mostAtOnce(): Promise<number>;
  stop(): void;
}

/** `delay`: milliseconds that each call takes. */
export async function startEmulatedAws(delay: number): Promise<EmulatedAws> {
  const child = fork(fileURLToPath(new URL('./emulated-aws-main.js', import.meta.url)), [String(delay)]);
  const { port } = await nextMessage<{ port: number }>(child);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    mostAtOnce: async () => {
      const answer = nextMessage<{ most: number }>(child);
      child.send('most');
      return (await answer).most;
    },
    stop: () => void child.kill(),
  };
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as T));
    child.once('exit', (code) => reject(new Error(`the emulated AWS ended with ${code}`)));
  });
}
