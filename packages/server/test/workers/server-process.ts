import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request, type ClientRequest } from 'node:http';
import { connect } from 'node:net';
import { bundledServer } from '@strongroom/lab';

const program = await bundledServer();

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
    const args = [program, 'server', `-config=${config}`];
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
    return childrenOf(this.pid, 'worker-main');
  }

  /** The process that writes for them; undefined where there is none now. */
  get writer(): number | undefined {
    return childrenOf(this.pid, 'writer-main')[0];
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

  /** Sends a request so often over one connection, without waiting for answers; `answered` hears how many there are. Resolves with their statuses. */
  async many(address: string, text: string, count: number, answered: (more: number) => void = () => undefined): Promise<number[]> {
    const { hostname, port } = new URL(address);
    const socket = connect(Number(port), hostname);
    const statuses: number[] = [];
    let rest = '';
    await new Promise<void>((resolve, reject) => {
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\r\n');
        rest = lines.pop()!;
        const more = lines.flatMap((line) => /HTTP\/1\.1 (\d+) /.exec(line)?.[1] ?? []).map(Number);
        statuses.push(...more);
        answered(more.length);
        if (statuses.length === count) resolve();
      });
      socket.once('error', reject).once('close', () => reject(new Error('the connection was closed')));
      socket.write(text.repeat(count));
    });
    socket.destroy();
    return statuses;
  }

  /** Reads what an endless answer holds, until it holds so much. */
  async follows(address: string, path: string, token: string, enough: (text: string) => boolean): Promise<string> {
    const leave = new AbortController();
    const response = await fetch(`${address}/v1/${path}`, { headers: { 'X-Vault-Token': token }, signal: leave.signal });
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) if (enough((text += chunk))) break;
    leave.abort();
    return text;
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    for (const agent of this.#agents.splice(0)) agent.destroy();
    this.child.kill(signal);
    return this.exited;
  }
}

/** A request whose head a worker has taken, and whose body is still to come. */
export class Begun {
  readonly #sent: ClientRequest;
  readonly #body: string;

  private constructor(sent: ClientRequest, body: string) {
    this.#sent = sent;
    this.#body = body;
  }

  static async request(address: string, method: string, path: string, token: string, body: string): Promise<Begun> {
    const headers = { 'X-Vault-Token': token, 'Content-Length': Buffer.byteLength(body), Expect: '100-continue' };
    const sent = request(`${address}/v1/${path}`, { method, headers, agent: false });
    await new Promise<void>((resolve, reject) => {
      sent.once('continue', resolve).once('error', reject);
      sent.flushHeaders();
    });
    return new Begun(sent, body);
  }

  /** Sends the body. Resolves with the status of the answer. */
  async finish(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#sent.once('error', reject).once('response', (response) => resolve(response.resume().statusCode!));
      this.#sent.end(this.#body);
    });
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

/** Those that run a program. */
function childrenOf(parent: number, program: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(ppid) !== parent || state === 'Z') return [];
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(program) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
