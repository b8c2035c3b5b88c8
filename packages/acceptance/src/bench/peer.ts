import { WrongArgument } from '../arguments.ts';
import { DESCRIPTION, mountingOf, MOUNTS } from './mounts.ts';
import { cpuMicros } from './process-usage.ts';

/** A server of the same API that somebody else has started. It must answer without TLS: encryption would be measured too. */
export interface Peer {
  readonly address: URL;
  readonly token: string;
  /** Its process, where it runs on this machine: for its CPU time. */
  readonly pid: number | undefined;
}

interface Mounted {
  /** Such as `bench` or `auth/bench-ldap`. */
  readonly path: string;
  readonly isOurs: boolean;
}

const CHECK_MS = 10_000;
/** How often a run that ends looks for its mounts. */
const ATTEMPTS = 5;
/** For what ends thousands of leases. */
const REMOVAL_MS = 120_000;
const NAMES: readonly string[] = Object.values(MOUNTS);

/** @throws WrongArgument unless a server answers there that takes the token and has room for the mounts, and the process is one of this machine */
export async function requirePeer(peer: Peer): Promise<void> {
  const { address, pid } = peer;
  const health = await request(peer, 'GET', 'sys/health', CHECK_MS).catch((error: Error) => {
    throw new WrongArgument(`--against: no server answers at ${address.origin}: ${reasonOf(error)}`);
  });
  if (health.status === 501 || health.status === 503)
    throw new WrongArgument(
      `--against: the server at ${address.origin} is not ready (sys/health answers ${health.status}): initialize and unseal it`,
    );
  const strange = (await mountsOf(peer).catch(refused)).filter(({ isOurs }) => !isOurs);
  if (strange.length > 0) {
    const names = strange.map(({ path }) => path).join(' and at ');
    throw new WrongArgument(
      `--against: the server at ${address.origin} already has a mount at ${names} that no run made: remove it, or use an empty server`,
    );
  }
  if (pid !== undefined && cpuMicros(pid) === 0)
    throw new WrongArgument(`--pid: no process ${pid} has used the CPU of this machine; name that of the server at ${address.origin}`);

  function refused(error: unknown): never {
    if (error instanceof Unexpected && error.status === 403)
      throw new WrongArgument(`--token: the server at ${address.origin} refuses it; it must be a root token`);
    throw new WrongArgument(`--against: what answers at ${address.origin} does not list its mounts: ${reasonOf(error as Error)}`);
  }
}

/** Removes the mounts that this run or an earlier one has made. Resolves with their paths. */
export async function removeMounts(peer: Peer): Promise<readonly string[]> {
  const ours = (await mountsOf(peer)).filter(({ isOurs }) => isOurs);
  for (const { path } of ours) {
    // The outside system of the leases may have ended.
    await call(peer, 'PUT', `sys/leases/revoke-force/${path}`, REMOVAL_MS);
    await call(peer, 'DELETE', mountingOf(path), REMOVAL_MS);
  }
  return ours.map(({ path }) => path);
}

/** Removes what this run has made. Where that fails, it says so, as the peer may have ended. */
export async function leavePeer(peer: Peer): Promise<void> {
  try {
    // A mount may be made while others are removed.
    for (let attempt = 0; attempt < ATTEMPTS && (await removeMounts(peer)).length > 0; attempt += 1);
  } catch (error) {
    process.stderr.write(
      `The mounts of this run may still be in the server at ${peer.address.origin}: ${reasonOf(error as Error)}. The next run removes them.\n`,
    );
  }
}

/** Those that have a name of the bench. */
async function mountsOf(peer: Peer): Promise<Mounted[]> {
  const found: Mounted[] = [];
  for (const [kind, prefix] of [
    ['mounts', ''],
    ['auth', 'auth/'],
  ] as const) {
    const { data } = (await (await call(peer, 'GET', `sys/${kind}`, CHECK_MS)).json()) as {
      data: Record<string, { description?: string }>;
    };
    for (const [name, { description }] of Object.entries(data)) {
      const path = prefix + name.replace(/\/$/, '');
      if (NAMES.includes(path)) found.push({ path, isOurs: description === DESCRIPTION });
    }
  }
  return found;
}

/** An answer that says no. */
class Unexpected extends Error {
  override readonly name = 'Unexpected';
  readonly status: number;

  constructor(path: string, status: number) {
    super(`${path} answers ${status}`);
    this.status = status;
  }
}

/** @throws Unexpected unless the answer is 2xx */
async function call(peer: Peer, method: string, path: string, limitMs: number): Promise<Response> {
  const answer = await request(peer, method, path, limitMs);
  if (!answer.ok) throw new Unexpected(path, answer.status);
  return answer;
}

async function request({ address, token }: Peer, method: string, path: string, limitMs: number): Promise<Response> {
  return fetch(new URL(`/v1/${path}`, address), { method, headers: { 'X-Vault-Token': token }, signal: AbortSignal.timeout(limitMs) });
}

/** What Node says of a connection that failed is in the cause; of several addresses, it has a code alone. */
function reasonOf(error: Error): string {
  const { code, message } = (error.cause ?? error) as { code?: unknown; message: string };
  return message === '' ? String(code) : message;
}
