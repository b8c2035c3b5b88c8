/** Lets SIGINT and SIGTERM end this process in order, with code 130: the servers that it started end with it then, and would go on otherwise. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
}
