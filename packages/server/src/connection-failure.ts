const CODES = new Set(
  'ECONNRESET ECONNREFUSED ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENOTFOUND EAI_AGAIN'.split(' '),
);

/** Whether an error says no more than that a connection came to its end, which is all that it harms: its stack does not say whose it was. */
export function isConnectionFailure(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  return typeof code === 'string' && typeof syscall === 'string' && CODES.has(code);
}
