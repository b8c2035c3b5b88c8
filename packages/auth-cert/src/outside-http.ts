import { UpstreamFailed, withDeadline, type Circuit, type Clock } from '@strongroom/engine-sdk';
import type { Agent } from 'undici';

/** A server that answered, but not with what was asked for. It can be reached, so no circuit breaker opens. */
export class OutsideRefused extends UpstreamFailed {
  override readonly answered = true;
}

/** One request to a server of a CA. */
export interface OutsideAsk {
  readonly url: URL;
  /** What the server is, for errors: `the revocation list server`. */
  readonly what: string;
  /** Sent by POST; a GET without it. */
  readonly body?: { readonly bytes: Uint8Array; readonly type: string };
  readonly maxBytes: number;
  readonly millis: number;
  readonly signal: AbortSignal;
}

/** Connections to one server. */
const CONNECTIONS = 8;
/** Requests that may wait for one server, beside those under way. */
const WAITING = 64;

/**
 * Asks the servers of CAs: with a deadline, a bounded body, no redirects, a limited number of requests for each server and a circuit breaker around it. The
 * answers are signed, so they may come over plain HTTP.
 */
export class OutsideHttp {
  readonly #clock: Clock;
  readonly #circuit: (target: string) => Circuit;
  #agent: Promise<Agent> | undefined;
  readonly #underWay = new Map<string, number>();

  constructor({ clock, circuit }: { clock: Clock; circuit: (target: string) => Circuit }) {
    this.#clock = clock;
    this.#circuit = circuit;
  }

  /** The body of the answer. @throws UpstreamFailed naming the server, Unavailable while its circuit breaker is open */
  async ask({ url, what, body, maxBytes, millis, signal }: OutsideAsk): Promise<Buffer> {
    const named = `${what} ${url.host}`;
    return this.#circuit(targetOf(url)).call(signal, async () =>
      this.#counted(url, named, async () =>
        withDeadline(
          {
            clock: this.#clock,
            millis,
            parent: signal,
            passed: () => new UpstreamFailed(`${named} did not answer within ${Math.round(millis / 1_000)} s`),
          },
          async (ending) => {
            const sent = body
              ? { method: 'POST' as const, body: body.bytes, headers: { 'content-type': body.type } }
              : { method: 'GET' as const };
            try {
              const { request } = await import('undici');
              const answer = await request(url, { ...sent, dispatcher: await this.#connections(), signal: ending });
              // A body that is left unread ends with an error, which nobody else takes.
              answer.body.on('error', () => {});
              if (answer.statusCode !== 200) {
                answer.body.destroy();
                const text = `${named} answered with status ${answer.statusCode}`;
                throw answer.statusCode >= 500 ? new UpstreamFailed(text) : new OutsideRefused(text);
              }
              return await bounded(answer.body, maxBytes, named);
            } catch (error) {
              if (ending.aborted) throw ending.reason;
              if (error instanceof UpstreamFailed) throw error;
              throw new UpstreamFailed(`${named} could not be reached: ${codeOf(error)}`, { cause: error });
            }
          },
        ),
      ),
    );
  }

  async close(): Promise<void> {
    await (await this.#agent)?.destroy();
  }

  /** Loads undici, 8 MiB, for the first question: most servers never ask. */
  #connections(): Promise<Agent> {
    this.#agent ??= import('undici').then(
      ({ Agent: Connections }) => new Connections({ connections: CONNECTIONS, keepAliveTimeout: 10_000 }),
    );
    return this.#agent;
  }

  async #counted<T>({ origin }: URL, named: string, work: () => Promise<T>): Promise<T> {
    const count = this.#underWay.get(origin) ?? 0;
    if (count >= CONNECTIONS + WAITING) throw new OutsideRefused(`${named} has ${count} requests waiting already`);
    this.#underWay.set(origin, count + 1);
    try {
      return await work();
    } finally {
      const left = this.#underWay.get(origin)! - 1;
      if (left === 0) this.#underWay.delete(origin);
      else this.#underWay.set(origin, left);
    }
  }
}

/** The target of the circuit breaker around the server of a URL. */
export function targetOf({ origin }: URL): string {
  return `ca:${origin}`;
}

async function bounded(body: AsyncIterable<Uint8Array>, most: number, named: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > most) throw new OutsideRefused(`${named} answered with more than ${most} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The system's code; other texts may hold what the server sent. */
function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : 'the answer could not be read';
}
