/** A signal that is never aborted: of work that is done to its end. */
export const NEVER: AbortSignal = new AbortController().signal;
