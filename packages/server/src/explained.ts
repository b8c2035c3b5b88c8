/** Mistakes of operators and external failures are a sentence; a bug of ours comes with its stack. */
export function explained(error: unknown): string {
  if (!(error instanceof Error)) return `Error: ${String(error)}`;
  return error.constructor === Error || error instanceof TypeError ? (error.stack ?? error.message) : `Error: ${error.message}`;
}
