import { isPlainJson, NO_JSON_LIMITS, readJson } from '@strongroom/engine-sdk/json';
import { CallRefused, ImportStopped } from './failures.ts';
import { isRecord, recordOf, textsOf, type JsonRecord } from './json.ts';
import type { Pace } from './pace.ts';
import type { Reply, Wire, WireOptions } from './wire.ts';

/** How often a call is repeated that met a limit, an outage or a lost connection. */
const ATTEMPTS = 6;

/** Answers as long as the token is valid: the import asks it before anything else, and after a refusal. */
export const OWN_TOKEN = 'auth/token/lookup-self';

export interface ServerParts {
  readonly role: 'source' | 'target';
  readonly wire: Wire;
  readonly pace: Pace;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/** One of the two servers of an import. Counts its calls. */
export class Server {
  readonly role: 'source' | 'target';
  readonly #parts: ServerParts;
  #answered = false;
  calls = 0;

  constructor(parts: ServerParts) {
    this.role = parts.role;
    this.#parts = parts;
  }

  /** `data` of a read; undefined where there is nothing, or no such path. @throws CallRefused, ImportStopped */
  async read(path: string, query?: Readonly<Record<string, string>>): Promise<JsonRecord | undefined> {
    const reply = await this.#call('GET', path, query ? { query } : {});
    if (reply.status === 404 || reply.status === 405 || isUnsupported(reply)) return undefined;
    await this.#check(path, reply);
    const body = this.#body(path, reply);
    return isRecord(body['data']) ? body['data'] : undefined;
  }

  /** The keys of a list. @throws CallRefused, ImportStopped */
  async list(path: string): Promise<string[]> {
    return textsOf((await this.read(path, { list: 'true' }))?.['keys']);
  }

  /** A body that has no envelope, such as the health of the server, whatever its status. @throws ImportStopped */
  async bare(path: string): Promise<{ status: number; body: JsonRecord }> {
    const reply = await this.#call('GET', path, { ofServer: true });
    return { status: reply.status, body: this.#body(path, reply) };
  }

  /** `data` of the answer. @throws CallRefused, ImportStopped */
  async write(path: string, body: unknown): Promise<JsonRecord | undefined> {
    const reply = await this.#call('PUT', path, { body });
    await this.#check(path, reply);
    return reply.text.trim() === '' ? undefined : recordOf(this.#body(path, reply)['data']);
  }

  async #check(path: string, reply: Reply): Promise<void> {
    if (reply.status < 400) return;
    const errors = textsOf(this.#body(path, reply)['errors']);
    if (reply.status === 403 && errors.some((text) => text.includes('bad token') || text.includes('invalid token')))
      throw new ImportStopped(`The ${this.role} does not accept the token: ${errors.join('; ')}`);
    if (reply.status === 403 && path !== OWN_TOKEN && (await this.#call('GET', OWN_TOKEN, {})).status === 403)
      throw new ImportStopped(`The ${this.role} no longer accepts the token: run the import again with another one`);
    throw new CallRefused(this.role, path, reply.status, errors);
  }

  #body(path: string, { status, text }: Reply): JsonRecord {
    if (text.trim() === '') return {};
    try {
      const value = JSON.parse(text) as unknown;
      return recordOf(isPlainJson(text, NO_JSON_LIMITS) ? value : readJson(text));
    } catch {
      const html = /^\s*</.test(text) ? 'a web page' : 'something other than JSON';
      throw new ImportStopped(`The ${this.role} answered ${path} with ${html} (status ${status}): is this the address of its API?`);
    }
  }

  async #call(method: 'GET' | 'PUT', path: string, options: WireOptions): Promise<Reply> {
    // Names come from the source: none of them may lead to another path.
    if (path.split('/').some((segment) => segment === '.' || segment === '..'))
      throw new CallRefused(this.role, path, 400, ['a name of the source has a segment "." or ".."']);
    for (let attempt = 1; ; attempt += 1) {
      await this.#parts.pace.turn();
      this.calls += 1;
      const reply = await this.#send(method, path, options);
      if (reply instanceof Error) {
        if (!this.#answered || attempt >= ATTEMPTS) throw new ImportStopped(`The ${this.role} does not answer: ${reply.message}`);
      } else if (reply.status === 503 && /sealed/i.test(reply.text)) {
        throw new ImportStopped(`The ${this.role} is sealed: unseal it, then run the import again`);
      } else if (reply.status === 429 && path !== 'sys/health') {
        this.#parts.pace.hold(reply.retryAfter ?? 1);
        if (attempt >= ATTEMPTS * 10)
          throw new ImportStopped(`The ${this.role} refuses calls because of a rate limit: choose a lower -rate`);
        continue;
      } else if (reply.status !== 502 && reply.status !== 503 && reply.status !== 504) {
        this.#answered = true;
        return reply;
      } else if (attempt >= ATTEMPTS || path === 'sys/health') return reply;
      await this.#parts.sleep(Math.min(250 * 2 ** attempt, 8_000));
    }
  }

  async #send(method: 'GET' | 'PUT', path: string, options: WireOptions): Promise<Reply | Error> {
    try {
      return await this.#parts.wire.send(method, path, options);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

/** Servers answer a read that a path does not have with 400 at times. */
function isUnsupported({ status, text }: Reply): boolean {
  return status === 400 && /unsupported (operation|path)|no handler for route/i.test(text);
}
