/** The statements by which a database begins a transaction, commits it, and rolls it back. */
export interface Transaction {
  readonly begin: string;
  readonly commit: string;
  readonly rollback: string;
}

/** As most databases have it. */
export const standardTransaction: Transaction = { begin: 'BEGIN', commit: 'COMMIT', rollback: 'ROLLBACK' };

/** Runs statements one by one; with `transaction`, all or nothing. `send` sends one statement. */
export async function runInOrder(
  send: (statement: string) => Promise<unknown>,
  statements: readonly string[],
  transaction?: Transaction,
): Promise<void> {
  if (transaction) await send(transaction.begin);
  try {
    for (const statement of statements) await send(statement);
    if (transaction) await send(transaction.commit);
  } catch (error) {
    // Some errors have ended the transaction already, or the connection.
    if (transaction) await send(transaction.rollback).catch(() => undefined);
    throw error;
  }
}
