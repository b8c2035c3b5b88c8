import { ConnectionLost, type DatabaseError, type PoolStatus, redact, StatementFailed } from '@strongroom/database-sdk';
import { type HttpAnswer, HttpPool, jsonObject } from '@strongroom/database-sdk/http';
import type { InfluxdbSettings } from './settings.ts';

interface Answer {
  readonly error?: string;
  readonly results?: readonly { readonly error?: string; readonly series?: readonly { readonly values?: unknown[][] }[] }[];
}

/** The server's `/query`. */
export class HttpInterface {
  readonly #settings: InfluxdbSettings;
  readonly #http: HttpPool;

  constructor(settings: InfluxdbSettings) {
    this.#settings = settings;
    this.#http = new HttpPool(settings);
  }

  /**
   * Runs one statement and gives its rows. Statements go in the body, because servers log addresses. Throws StatementFailed for what the server
   * refused, ConnectionLost, SessionClosed, and the reason of `signal`; `password` is masked in all texts, beside those of the connection.
   */
  async query(signal: AbortSignal, statement: string, password?: string): Promise<unknown[][]> {
    const body = { type: 'application/x-www-form-urlencoded', text: new URLSearchParams({ q: statement }).toString() };
    const call = { method: 'POST' as const, path: '/query', body, ...(password !== undefined && { password }) };
    return this.#http.call(signal, call, readAnswer);
  }

  /** A failure to log in, with where and as whom, unless it says that there was no answer. */
  loginText(error: DatabaseError): string {
    const { origin, username } = this.#settings;
    if (error.code === 'connection_lost') return error.message;
    return `failed to log in to ${origin} as ${username}: ${error.message.replace(/^failed to execute query: /, '')}`;
  }

  pool(): PoolStatus {
    return this.#http.status();
  }

  /** Waits for statements under way, but not for a server that does not answer. */
  close(): Promise<void> {
    return this.#http.close();
  }
}

function readAnswer({ status, text, secrets }: HttpAnswer): unknown[][] {
  const answer: Answer | undefined = jsonObject(text);
  const refusal = answer?.error ?? answer?.results?.find(({ error }) => error !== undefined)?.error;
  if (refusal !== undefined && status < 500) throw new StatementFailed(redact(refusal, secrets), { serverCode: String(status) });
  if (status !== 200 || !answer?.results)
    throw new ConnectionLost(redact(`the server answered ${status}${refusal === undefined ? '' : `: ${refusal}`}`, secrets));
  return answer.results.flatMap(({ series }) => series ?? []).flatMap(({ values }) => values ?? []);
}
