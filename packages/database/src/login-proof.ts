import { randomBytes } from 'node:crypto';
import type { LoginFailure } from '@strongroom/database-sdk';
import type { Proof } from '@strongroom/rotation';
import { DatabaseFailed } from './call-failed.ts';
import { proofId, type Connections, type NamedConnection, type OpenConnection } from './connections.ts';
import { unsettled } from './records.ts';

export interface ProofRequest {
  readonly username: string;
  readonly candidate: string;
  /** Absent where it must not be tried. */
  readonly current: string | undefined;
  /** The user is not the one of that name that the connection's own way of logging in means, such as one of another database: then a refusal says nothing. */
  readonly elsewhere?: boolean;
  /** Resolves where the database answers whoever may log in: for plugins that do not say why a login failed. */
  readonly reach?: () => Promise<unknown>;
}

/**
 * Logs in with one password after the other. A password that cannot be right is tried first: where that works, a login proves nothing (the
 * server trusts everybody, or the URL carries a login of its own). Where the user may not log in at all, for reasons of its own, there is no proof either.
 * @throws DatabaseFailed where nothing was found out: the database was not reached
 */
export async function proveLogin(
  connections: Connections,
  connection: NamedConnection,
  { username, candidate, current, elsewhere, reach }: ProofRequest,
  signal: AbortSignal,
): Promise<Proof> {
  let unexplained: DatabaseFailed | undefined;
  const login = async (password: string): Promise<'accepted' | Exclude<LoginFailure, 'unreachable'>> => {
    const open = await openAs(connections, connection, username, password);
    try {
      await open.session.verify(signal);
      return 'accepted';
    } catch (error) {
      if (!(error instanceof DatabaseFailed) || error.outcome !== 'unsent' || error.login === 'unreachable') throw error;
      if (error.login === undefined) unexplained = error;
      return error.login ?? 'credential';
    } finally {
      await open.session.close().catch(() => undefined);
    }
  };
  const impossible = await login(`never-${randomBytes(18).toString('base64url')}`);
  if (impossible === 'accepted') return 'unprovable';
  const found = await login(candidate);
  if (found === 'accepted') return 'candidate';
  const before = current === undefined ? undefined : await login(current);
  if (before === 'accepted') return 'current';
  if (elsewhere === true || [impossible, found, before].includes('barred')) return 'unprovable';
  if (unexplained) await explain(unexplained, reach);
  return 'neither';
}

/** Nobody logged in, and the plugin does not say why: refused, or not reached. */
async function explain(error: DatabaseFailed, reach: ProofRequest['reach']): Promise<void> {
  if (!reach) throw error;
  await reach();
}

/** A session of its own, logged in as somebody else. The caller closes it. */
export async function openAs(
  connections: Connections,
  { name, record }: NamedConnection,
  username: string,
  password: string,
): Promise<OpenConnection> {
  const details = { ...record.details, username, password };
  return connections.openApart({ name, record: { ...unsettled(record), id: proofId(record), details } });
}
