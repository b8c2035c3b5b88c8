import type { ApiClient } from '../client.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { isRecord } from '../json.ts';
import type { Output } from '../output.ts';

/** Moves a mount and waits until the server is done. `what` names it in messages: `secrets engine`, `auth method`. */
export async function remount(
  client: ApiClient,
  out: Output,
  move: { readonly from: string; readonly to: string; readonly what: string; readonly prefix: string },
  sleep: (milliseconds: number) => Promise<void>,
): Promise<void> {
  const { from, to, what, prefix } = move;
  const started = await doing(
    `Error moving ${what} ${from} to ${to}`,
    client.secret('POST', 'sys/remount', { body: { from: prefix + from, to: prefix + to }, unwrapped: true }),
  );
  const id = started?.data?.['migration_id'];
  if (typeof id !== 'string') return out.success(`Moved ${what} from: ${from} to: ${to}`);
  if (out.plain) out.line(`Started moving ${what} ${from} to ${to}, with migration ID ${id}`);
  for (;;) {
    const secret = await doing(
      `Error checking on the move of ${what} ${from}`,
      client.secret('GET', `sys/remount/status/${id}`, { unwrapped: true }),
    );
    const info = secret?.data?.['migration_info'];
    const status = isRecord(info) ? info['status'] : undefined;
    if (status === 'success') return out.success(`Finished moving ${what} ${from} to ${to}, with migration ID ${id}`);
    if (status !== 'in-progress') {
      throw new Failure(`Failure! Error encountered moving ${what} ${from} to ${to}, with migration ID ${id}`, EXIT.remote);
    }
    await sleep(1000);
  }
}
