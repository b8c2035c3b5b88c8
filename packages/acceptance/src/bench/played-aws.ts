import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** IAM and STS as `played-aws-main.ts` plays them. */
export interface PlayedAws {
  readonly endpoint: string;
  /** The most calls that it had before it at one time. */
  mostAtOnce(): Promise<number>;
  stop(): void;
}

/** `delay`: milliseconds that each call takes. */
export async function startPlayedAws(delay: number): Promise<PlayedAws> {
  const child = fork(fileURLToPath(new URL('./played-aws-main.js', import.meta.url)), [String(delay)]);
  const { port } = await told<{ port: number }>(child);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    mostAtOnce: async () => {
      const answer = told<{ most: number }>(child);
      child.send('most');
      return (await answer).most;
    },
    stop: () => void child.kill(),
  };
}

async function told<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as T));
    child.once('exit', (code) => reject(new Error(`the played AWS ended with ${code}`)));
  });
}
