import { setTimeout as delay } from 'node:timers/promises';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';
import { startFreezingProxy, type FreezingProxy } from './freezing-proxy.ts';
import { freePorts } from './loopback.ts';
import { startProcess, type ServerProcess } from './server-process.ts';

export interface EtcdOptions {
  /** Members; default 1. */
  readonly members?: number;
  /** Flags for all members, such as `--quota-backend-bytes=…`. */
  readonly flags?: readonly string[];
  /** Without flags for larger transactions and requests. Default: with them. */
  readonly asShipped?: boolean;
  /** For clients. Members talk to each other without. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly authority: string };
}

/** One member. */
export interface EtcdMember {
  /** For clients. */
  readonly endpoint: string;
  readonly port: number;
  kill(): Promise<void>;
  /** Starts it again after `kill`, with its data. */
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** From now on the others and this one do not hear from each other; clients reach it. */
  isolate(): Promise<void>;
  heal(): void;
}

/** A private etcd cluster on free loopback ports, with its files in a temporary folder. */
export interface EtcdCluster {
  readonly members: readonly EtcdMember[];
  readonly endpoints: readonly string[];
  /** The member that leads, once most agree that there is one. */
  leader(): Promise<EtcdMember>;
  /** Calls the JSON gateway of a member, such as `/v3/kv/compaction`. Bytes are base64. */
  call(path: string, body?: object, options?: { readonly member?: EtcdMember; readonly token?: string }): Promise<Record<string, unknown>>;
  /** Stops all members, keeps a copy of their data, and starts them again. */
  backup(): Promise<void>;
  /** Kills all members, and starts them with the data of the copy. */
  restore(): Promise<void>;
  /** Kills all members, and starts them without data. */
  wipe(): Promise<void>;
  stop(): Promise<void>;
}

/** Why etcd cannot be started here; undefined where it can. */
export function etcdMissing(): string | undefined {
  return findProgram('etcd') ? undefined : 'etcd is not installed here (Debian: etcd-server)';
}

/** The last one is the default since etcd 3.6: a member that starts replays what came since its last snapshot. */
const LARGE = ['--max-txn-ops=10000', '--max-request-bytes=33554432', '--snapshot-count=10000'];
const READY_MS = 30_000;
/** A member that was killed under load first replays what it has written, on a machine that may be busy. */
const START_MS = 120_000;

/** @throws Error where etcd is not installed */
export async function startEtcd({ members: count = 1, flags = [], asShipped = false, tls }: EtcdOptions = {}): Promise<EtcdCluster> {
  const program = findProgram('etcd');
  if (program === undefined) throw new Error(etcdMissing());
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-etcd-'));
  const ports = await freePorts(count * 2);
  const peers = ports.slice(count);
  const proxies = await Promise.all(peers.map(async (port) => startFreezingProxy({ host: '127.0.0.1', port })));
  const scheme = tls ? 'https' : 'http';
  const initial = proxies.map(({ port }, i) => `m${i}=http://127.0.0.1:${port}`).join(',');
  const secure = tls ? [`--cert-file=${tls.certificate}`, `--key-file=${tls.key}`, `--trusted-ca-file=${tls.authority}`] : [];
  const all: Member[] = [];
  for (const [i, proxy] of proxies.entries()) {
    const endpoint = `${scheme}://127.0.0.1:${ports[i]}`;
    const args = [
      `--name=m${i}`,
      `--data-dir=${join(folder, `m${i}`)}`,
      `--listen-client-urls=${endpoint}`,
      `--advertise-client-urls=${endpoint}`,
      `--listen-peer-urls=http://127.0.0.1:${peers[i]}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${proxy.port}`,
      `--initial-cluster=${initial}`,
      '--initial-cluster-state=new',
      '--logger=zap',
      '--log-level=info',
      ...(asShipped ? [] : LARGE),
      ...secure,
      ...flags,
    ];
    all.push(new Member({ program, args, cwd: folder, port: ports[i]!, endpoint, proxy }));
  }
  for (const member of all) member.others = all.filter((other) => other !== member);
  const call: EtcdCluster['call'] = async (path, body = {}, { member = all[0], token } = {}) => {
    const headers = token === undefined ? {} : { Authorization: token };
    const response = await fetch(`${member!.endpoint}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(3_000),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`etcd answers ${path} with ${response.status}: ${String(answer['error'] ?? answer['message'])}`);
    return answer;
  };
  const start = async (): Promise<void> => {
    await Promise.all(all.map((member) => member.launch()));
    if (!tls) await leader();
  };
  const leader = async (): Promise<Member> => {
    for (const end = performance.now() + READY_MS; performance.now() < end; await delay(50)) {
      const told = await Promise.all(all.map(async (member) => statusOf(member)));
      for (const member of all) {
        const id = told[all.indexOf(member)]?.id;
        const votes = told.filter((each) => each !== undefined && each.leader === id && id !== undefined);
        if (votes.length > all.length / 2) return member;
      }
    }
    throw new Error('etcd has no leader');
  };
  const statusOf = async (member: Member): Promise<{ id: string; leader: string } | undefined> => {
    try {
      const answer = await call('/v3/maintenance/status', {}, { member });
      const id = (answer['header'] as { member_id: string }).member_id;
      member.id = id;
      return { id, leader: String(answer['leader'] ?? '0') };
    } catch {
      return undefined;
    }
  };
  const kept = join(folder, 'kept');
  const data = (i: number): string => join(folder, `m${i}`);
  const killed = async (signal: NodeJS.Signals): Promise<void> => void (await Promise.all(all.map((member) => member.end(signal))));
  await start();
  return {
    members: all,
    endpoints: all.map(({ endpoint }) => endpoint),
    leader,
    call,
    async backup() {
      await killed('SIGTERM');
      for (const i of all.keys()) await cp(data(i), join(kept, `m${i}`), { recursive: true, force: true });
      await start();
    },
    async restore() {
      await killed('SIGKILL');
      for (const i of all.keys()) {
        await rm(data(i), { recursive: true });
        await cp(join(kept, `m${i}`), data(i), { recursive: true });
      }
      await start();
    },
    async wipe() {
      await killed('SIGKILL');
      for (const i of all.keys()) await rm(data(i), { recursive: true });
      await start();
    },
    async stop() {
      for (const member of all) member.thaw();
      await killed('SIGKILL');
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface MemberParts {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly port: number;
  readonly endpoint: string;
  /** Before the port for other members. */
  readonly proxy: FreezingProxy;
}

class Member implements EtcdMember {
  readonly endpoint: string;
  readonly port: number;
  readonly #parts: MemberParts;
  others: readonly Member[] = [];
  /** Decimal, once it was asked. */
  id: string | undefined;
  #process: ServerProcess | undefined;

  constructor(parts: MemberParts) {
    this.#parts = parts;
    this.endpoint = parts.endpoint;
    this.port = parts.port;
  }

  async launch(): Promise<void> {
    const { program, args, cwd } = this.#parts;
    const ready = /ready to serve|serving (insecure )?client|serving client traffic/;
    this.#process = await startProcess(program, { args, cwd, ready, timeoutMs: START_MS });
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    await this.#process?.end(signal);
    this.#process = undefined;
  }

  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  start(): Promise<void> {
    return this.launch();
  }

  freeze(): void {
    this.#process?.signal('SIGSTOP');
  }

  thaw(): void {
    this.#process?.signal('SIGCONT');
  }

  async isolate(): Promise<void> {
    if (this.id === undefined) throw new Error('ask for the leader first');
    // A member says in the first message of a connection who it is.
    const marker = BigInt(this.id).toString(16);
    this.#parts.proxy.freeze();
    for (const other of this.others) {
      other.#parts.proxy.cut();
      other.#parts.proxy.freeze(marker);
    }
  }

  heal(): void {
    for (const member of [this, ...this.others]) {
      member.#parts.proxy.thaw();
      member.#parts.proxy.cut();
    }
  }
}
