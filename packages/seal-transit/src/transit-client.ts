import { readFileSync } from 'node:fs';
import { SealPermissionDenied, SealSettingsInvalid, SealThrottled, SealUnavailable } from '@strongroom/seal-sdk';
import { Agent, request } from 'undici';
import type { TransitSettings } from './settings.ts';

/** Answers of a key are a few hundred bytes. */
const MAX_ANSWER = 64 * 1024;

/** A status of 400 or above, with the texts of the server's `errors`. */
export class TransitRefusal extends Error {
  readonly status: number;

  constructor(status: number, texts: readonly string[]) {
    super(texts.join('; ') || `status ${status}`);
    this.status = status;
  }
}

/** Calls the server that has the key. */
export class TransitClient {
  readonly #agent: Agent;
  readonly #settings: TransitSettings;
  readonly #base: string;

  /** Opens no connection. @throws SealSettingsInvalid for a file that cannot be read */
  constructor(settings: TransitSettings) {
    this.#settings = settings;
    this.#base = settings.address.replace(/\/+$/, '');
    const { tls_ca_cert: ca, tls_client_cert: cert, tls_client_key: key, tls_server_name: servername } = settings;
    this.#agent = new Agent({
      maxResponseSize: MAX_ANSWER,
      connect: {
        ...(ca === undefined ? {} : { ca: pem('tls_ca_cert', ca) }),
        ...(cert === undefined ? {} : { cert: pem('tls_client_cert', cert) }),
        ...(key === undefined ? {} : { key: pem('tls_client_key', key) }),
        ...(servername === undefined ? {} : { servername }),
        rejectUnauthorized: !settings.tls_skip_verify,
      },
    });
  }

  /** Sends a PUT, and answers the body. @throws TransitRefusal for 400 and 404; SealThrottled, SealPermissionDenied, SealUnavailable */
  async put(path: string, body: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { token, namespace } = this.#settings;
    const answer = await request(`${this.#base}/v1/${path}`, {
      method: 'PUT',
      dispatcher: this.#agent,
      signal,
      headers: {
        'content-type': 'application/json',
        'x-vault-request': 'true',
        'x-vault-token': token,
        ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
      },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    const { statusCode: status } = answer;
    const record = parsed(text);
    if (status < 300) return record;
    const texts = Array.isArray(record['errors']) ? record['errors'].map((one) => String(one).trim()) : [];
    const said = `the transit server answers ${status}${texts.length === 0 ? '' : `: ${texts.join('; ')}`}`;
    const options = { serviceCode: String(status) };
    if (status === 429) {
      const header = answer.headers['retry-after'];
      const seconds = typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
      throw new SealThrottled(said, { ...options, retryAfterSeconds: seconds });
    }
    if (status === 401 || status === 403) throw new SealPermissionDenied(said, options);
    if (status === 400 || status === 404) throw new TransitRefusal(status, texts);
    throw new SealUnavailable(said, options);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function pem(key: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new SealSettingsInvalid(
      `${key} names the file ${JSON.stringify(file)}, which cannot be read: ${(error as NodeJS.ErrnoException).code}`,
    );
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
