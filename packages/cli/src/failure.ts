/** Exit codes, as Vault's and OpenBao's users know them. */
export const EXIT = { ok: 0, local: 1, remote: 2 } as const;

/** A failure to be shown to the user as it is, and the exit code that goes with it. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.local) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}

/** A request that the server refused, for the message. */
interface RefusedRequest {
  readonly method: string;
  readonly url: string;
  readonly namespace: string;
}

/** The server answered with a status of 400 or above. `errors` are its own texts; undefined when the body holds none. */
export class ApiFailure extends Failure {
  readonly status: number;
  readonly errors: readonly string[];
  readonly body: string;
  /** Seconds of the header Retry-After, where there was one. */
  readonly retryAfter: number | undefined;

  constructor(request: RefusedRequest, status: number, errors: readonly string[] | undefined, body: string, retryAfter?: number) {
    const lines = ['Error making API request.', ''];
    if (request.namespace !== '') lines.push(`Namespace: ${request.namespace}`);
    lines.push(`URL: ${request.method} ${request.url}`);
    lines.push(`Code: ${status}. ${errors === undefined ? 'Raw Message' : 'Errors'}:`, '');
    lines.push(...(errors === undefined ? [body] : errors.map((text) => `* ${text}`)));
    super(lines.join('\n'), EXIT.remote);
    this.name = 'ApiFailure';
    this.status = status;
    this.errors = errors ?? [];
    this.body = body;
    this.retryAfter = retryAfter;
  }
}

/** Adds what was being done to a failure's message, and passes it on. */
export async function doing<Value>(what: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Failure) error.message = `${what}: ${error.message}`;
    throw error;
  }
}
