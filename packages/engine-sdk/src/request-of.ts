const requests = new WeakMap<AbortSignal, string>();

/** The id of the request that work under this signal is done for; undefined for work that no request asked for. `withDeadline` hands it down. */
export function requestOf(signal: AbortSignal): string | undefined {
  return requests.get(signal);
}

/** For whoever makes a signal: the request that its work is done for. Returns the signal. */
export function signalOf(signal: AbortSignal, request: string | undefined): AbortSignal {
  if (request !== undefined) requests.set(signal, request);
  return signal;
}
