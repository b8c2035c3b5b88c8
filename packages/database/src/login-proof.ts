import { randomBytes } from 'node:crypto';
import { DatabaseFailed } from './call-failed.ts';
import type { Connections, NamedConnection, OpenConnection } from './connections.ts';

/** Which of two passwords the database takes. `unprovable`: it takes any, or the connection's settings do not let us log in as that user. */
export type Proof = 'candidate' | 'current' | 'neither' | 'unprovable';

/**
 * Logs in with one password after the other. A password that cannot be right is tried first: where that works, a login proves nothing (the
 * server trusts everybody, or the URL carries a login of its own).
 */
export async function proveLogin(
  connections: Connections,
  connection: NamedConnection,
  username: string,
  passwords: { candidate: string; current: string | undefined },
  signal: AbortSignal,
): Promise<Proof> {
  const logsIn = async (password: string): Promise<boolean> => {
    const open = await openAs(connections, connection, username, password);
    try {
      await open.session.verify(signal);
      return true;
    } catch (error) {
      if (error instanceof DatabaseFailed && error.outcome === 'unsent') return false;
      throw error;
    } finally {
      await open.session.close().catch(() => undefined);
    }
  };
  if (await logsIn(`never-${randomBytes(18).toString('base64url')}`)) return 'unprovable';
  if (await logsIn(passwords.candidate)) return 'candidate';
  if (passwords.current !== undefined && (await logsIn(passwords.current))) return 'current';
  return 'neither';
}

/** A session of its own, logged in as somebody else. The caller closes it. */
export async function openAs(
  connections: Connections,
  { name, record }: NamedConnection,
  username: string,
  password: string,
): Promise<OpenConnection> {
  const { root_pending: _unused, ...rest } = record;
  return connections.openApart({ name, record: { ...rest, id: `${record.id}/proof`, details: { ...record.details, username, password } } });
}
