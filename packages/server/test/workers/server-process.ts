import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

/** A client over a connection of its own: one worker answers all that it asks. */
export interface Connection {
  call(method: string, path: string, token?: string, body?: unknown): Promise<Answer>;
  close(): void;
}

/** `strongroom server` in processes of its own. */
export class ServerProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  said = '';
  readonly #agents: Agent[] = [];
  #waiting: (() => void)[] = [];

  constructor(config: string, env: Record<string, string> = {}) {
    const args = ['--import', fileOf('../../../lab/scripts/typescript-loader.mjs'), fileOf('../child.ts'), `-config=${config}`];
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    this.child = spawn(process.execPath, args, { env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const heard = (text: string): void => {
      this.said += text;
      for (const resume of this.#waiting.splice(0)) resume();
    };
    this.child.stdout!.setEncoding('utf8').on('data', heard);
    this.child.stderr!.setEncoding('utf8').on('data', heard);
    this.exited = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
    void this.exited.then(() => heard(''));
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Waits for a text, and answers its first group. */
  async says(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.said);
      if (match) return match[1] ?? match[0];
      if (this.child.exitCode !== null) throw new Error(`it ended before it said ${String(pattern)}:\n${this.said}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** The numbers of its workers, as the system knows them. */
  get workers(): number[] {
    return childrenOf(this.pid);
  }

  connection(address: string): Connection {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    this.#agents.push(agent);
    const { hostname, port } = new URL(address);
    return {
      close: () => agent.destroy(),
      call: (method, path, token = '', body) =>
        new Promise((resolve, reject) => {
          const text = body === undefined ? undefined : JSON.stringify(body);
          const sent = request(
            {
              ...{ agent, hostname, port, method, path: `/v1/${path}` },
              headers: { 'X-Vault-Token': token, ...(text === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) }) },
            },
            (response) => {
              let answered = '';
              response.setEncoding('utf8').on('data', (chunk: string) => (answered += chunk));
              response.once('error', reject);
              response.once('end', () => {
                const json = answered.startsWith('{') ? (JSON.parse(answered) as Record<string, unknown>) : {};
                resolve({ status: response.statusCode!, body: json, text: answered });
              });
            },
          );
          sent.once('error', reject);
          sent.end(text);
        }),
    };
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    for (const agent of this.#agents.splice(0)) agent.destroy();
    this.child.kill(signal);
    return this.exited;
  }
}

/** Looks again until it holds: how long that takes by the clock on the wall is the machine's affair. */
export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise((resolve) => setImmediate(resolve));
}

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(ppid) === parent && state !== 'Z' ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
