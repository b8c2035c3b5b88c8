import { randomBytes } from 'node:crypto';
import type { Proof } from '@strongroom/rotation';
import { DatabaseFailed } from './call-failed.ts';
import { proofId, type Connections, type NamedConnection, type OpenConnection } from './connections.ts';
import { unsettled } from './records.ts';

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
  const details = { ...record.details, username, password };
  return connections.openApart({ name, record: { ...unsettled(record), id: proofId(record), details } });
}
