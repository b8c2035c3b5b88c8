import type { ApiClient } from '../client.ts';
import { ApiFailure } from '../failure.ts';
import type { JsonRecord } from '../json.ts';
import { isRecord } from '../json.ts';

/** Two generations of endpoints for the same work: the newer needs a token and answers in envelopes, the older neither. */
export interface OperationFamily {
  readonly prefix: string;
  /** Calls an endpoint below the prefix and answers its data, without the envelope. */
  call(method: string, path: string, body?: JsonRecord, query?: Readonly<Record<string, string>>): Promise<JsonRecord>;
}

/** Calls an endpoint that may or may not answer in an envelope, and answers its data. */
export async function callBare(
  client: ApiClient,
  method: string,
  path: string,
  body?: JsonRecord,
  query?: Readonly<Record<string, string>>,
): Promise<JsonRecord> {
  const sent = { ...(body === undefined ? {} : { body }), ...(query === undefined ? {} : { query }) };
  const reply = await client.record(method, path, { unwrapped: true, ...sent });
  return 'request_id' in reply && isRecord(reply['data']) ? reply['data'] : reply;
}

function family(client: ApiClient, prefix: string): OperationFamily {
  return { prefix, call: (method, path, body, query) => callBare(client, method, prefix + path, body, query) };
}

/** Finds out which generation the server has, by asking for the state of the work at `probe`. The newer is tried first. */
export async function chooseFamily(client: ApiClient, newer: string, older: string, probe: string): Promise<OperationFamily> {
  try {
    await client.call('GET', newer + probe, { preflight: true });
    return family(client, newer);
  } catch (error) {
    const absent =
      error instanceof ApiFailure && (error.status === 404 || error.status === 405 || (error.status === 403 && client.token === undefined));
    if (!absent) throw error;
    return family(client, older);
  }
}
