import type { Transaction } from '@strongroom/engine-sdk';
import type { Connections } from './connections.ts';
import { rootCalled } from './connection-users.ts';
import type { ConnectionRecord } from './records.ts';

/** The record without a claim on an account that it does not log in as any more, which is released. */
export async function withRootClaim(
  tx: Transaction,
  connections: Connections,
  name: string,
  record: ConnectionRecord,
): Promise<ConnectionRecord> {
  const { managed_account: account, ...root } = record.root ?? { last_rotation: 0, next_rotation: 0 };
  if (!account) return record;
  const own = connections.ownAccount({ name, record });
  if (!own || (own.system === account.system && own.name === account.name)) return record;
  await tx.release(account, rootCalled(name));
  return { ...record, root };
}
