import type { ApiClient } from '../client.ts';
import { flag } from '../flag.ts';
import { doing } from '../failure.ts';
import { isRecord } from '../json.ts';
import type { Output } from '../output.ts';
import type { Secret } from '../secret.ts';

export const forceFlag = flag.boolean(
  'Remove it now, whatever outside systems say, and print the users, accounts and keys that are left there. It takes sudo.',
);

/** Removes a mount and says what came of it. `at` is below `sys/`; `done` is the message of success. */
export async function unmount(
  client: ApiClient,
  out: Output,
  order: { readonly at: string; readonly mount: string; readonly what: string; readonly done: string; readonly force: boolean },
): Promise<void> {
  const query = order.force ? { force: 'true' } : {};
  const secret = await doing(`Error disabling ${order.what} at ${order.mount}`, client.secret('DELETE', order.at, { query }));
  if (secret !== undefined) {
    out.warnings(secret);
    if (secret.data?.['removing'] === true) {
      if (out.plain) out.line(`The ${order.what} at ${order.mount} is still being removed.`);
      return;
    }
    await leftOutside(out, secret);
  }
  out.success(order.done);
}

/** The users, accounts and keys that an answer says are left outside, if it names any. */
export async function leftOutside(out: Output, secret: Secret): Promise<void> {
  const left = secret.data?.['left_outside'];
  if (!Array.isArray(left) || left.length === 0) return;
  const columns = ['kind', 'name', 'system', 'detail', 'lease_id', 'journal_id'] as const;
  const rows = left.filter(isRecord).map((thing) => columns.map((column) => String(thing[column] ?? '')));
  const used = columns.map((_, index) => rows.some((row) => row[index] !== ''));
  const shown = (cells: readonly string[]): string[] => cells.filter((_, index) => used[index]);
  await out.rows(shown(['Kind', 'Name', 'System', 'Detail', 'Lease', 'Journal']), rows.map(shown), { left_outside: left });
}
