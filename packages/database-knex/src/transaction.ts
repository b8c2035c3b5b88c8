/** The statements by which a database begins a transaction, commits it, and rolls it back. */
export interface TransactionWords {
  readonly begin: string;
  readonly commit: string;
  readonly rollback: string;
}

const USUAL: TransactionWords = { begin: 'BEGIN', commit: 'COMMIT', rollback: 'ROLLBACK' };

/** Runs `work` in a transaction, which is rolled back where it fails. `send` sends one statement. */
export async function inTransaction(
  send: (statement: string) => Promise<unknown>,
  work: () => Promise<void>,
  { begin, commit, rollback }: TransactionWords = USUAL,
): Promise<void> {
  await send(begin);
  try {
    await work();
    await send(commit);
  } catch (error) {
    // Some errors have ended the transaction already, or the connection.
    await send(rollback).catch(() => undefined);
    throw error;
  }
}
