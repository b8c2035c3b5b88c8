/** Exit codes, as the incumbents' users know them. */
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

/** The server answered with a status of 400 or above. `errors` are its own texts. */
export class ApiFailure extends Failure {
  readonly status: number;
  readonly errors: readonly string[];

  constructor(
    request: { method: string; url: string; namespace: string },
    status: number,
    errors: readonly string[],
    raw: string | undefined,
  ) {
    const lines = ['Error making API request.', ''];
    if (request.namespace !== '') lines.push(`Namespace: ${request.namespace}`);
    lines.push(`URL: ${request.method} ${request.url}`);
    lines.push(`Code: ${status}. ${raw === undefined ? 'Errors' : 'Raw Message'}:`, '');
    lines.push(...(raw === undefined ? errors.map((text) => `* ${text}`) : [raw]));
    super(lines.join('\n'), EXIT.remote);
    this.name = 'ApiFailure';
    this.status = status;
    this.errors = errors;
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
