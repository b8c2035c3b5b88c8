import { createHash } from 'node:crypto';
import { checkServerIdentity } from 'node:tls';
import { foreignText, thrownText, Unavailable, UpstreamFailed, withDeadline, type Circuit, type Clock } from '@strongroom/engine-sdk';
import type { Agent } from 'undici';

/** Whom a connection to an issuer trusts. */
export interface Trust {
  /** PEM of the certificates to trust instead of the system's; '' for the system's. */
  readonly ca: string;
  /** The names to accept in the server's certificate instead of the host's name; empty for the host's name. */
  readonly serverNames: readonly string[];
}

export const systemTrust: Trust = { ca: '', serverNames: [] };

export interface IssuerCall {
  readonly trust: Trust;
  readonly signal: AbortSignal;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bytes of the body that are read at most; a longer one fails the call. Default 1 MiB. */
  readonly maxBytes?: number;
  /** An operator tries this address: the call is made even while the circuit breaker is open, and a success closes it. */
  readonly probe?: boolean;
}

export interface IssuerAnswer {
  readonly status: number;
  /** Names in lower case; of several values the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface IssuerHttpParts {
  readonly clock: Clock;
  /** The circuit breaker of an origin. */
  circuit(origin: string): Circuit;
}

/** The issuer could not be reached, or answered with a 5xx. */
export class IssuerFailed extends UpstreamFailed {}

/** The issuer is reachable, and its answer is no use. */
export class IssuerRefused extends UpstreamFailed {
  override readonly answered = true;
}

const DEADLINE_MS = 10_000;
const CONNECT_MS = 5_000;
const MAX_BYTES = 1_048_576;
const CONNECTIONS = 8;
/** Calls to one origin at a time; more are refused at once. */
const AT_ONCE = 64;
const REDIRECTS = 5;
const AGENTS = 32;

/**
 * The one way to an issuer: connections that are shared, a deadline of 10 seconds, bodies of bounded size, and for each origin a bulkhead and a circuit
 * breaker. Texts name the origin, and never contain what was sent.
 */
export class IssuerHttp {
  readonly #parts: IssuerHttpParts;
  readonly #agents = new Map<string, Promise<Agent>>();
  readonly #underWay = new Map<string, number>();

  constructor(parts: IssuerHttpParts) {
    this.#parts = parts;
  }

  /**
   * Any answer below 500, after at most five redirects of a GET.
   * @throws IssuerFailed, IssuerRefused, Unavailable while the circuit breaker is open or too many calls are under way, and the reason of `signal`
   */
  async call(url: string, call: IssuerCall): Promise<IssuerAnswer> {
    const { origin } = new URL(url);
    const circuit = this.#parts.circuit(origin);
    const work = async (): Promise<IssuerAnswer> => this.#bounded(origin, async () => this.#withDeadline(url, call));
    if (call.probe !== true) return circuit.call(call.signal, work);
    const answer = await work();
    circuit.reset();
    return answer;
  }

  async close(): Promise<void> {
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    for (const agent of agents) await (await agent).destroy();
  }

  async #bounded<T>(origin: string, work: () => Promise<T>): Promise<T> {
    const underWay = this.#underWay.get(origin) ?? 0;
    if (underWay >= AT_ONCE) {
      throw new Unavailable(`${underWay} calls to ${origin} are under way already; try again`, { headers: { 'Retry-After': '1' } });
    }
    this.#underWay.set(origin, underWay + 1);
    try {
      return await work();
    } finally {
      const left = this.#underWay.get(origin)! - 1;
      if (left === 0) this.#underWay.delete(origin);
      else this.#underWay.set(origin, left);
    }
  }

  async #withDeadline(url: string, call: IssuerCall): Promise<IssuerAnswer> {
    const { origin } = new URL(url);
    const passed = (): Error => new IssuerFailed(`${origin} did not answer within ${DEADLINE_MS / 1_000} s`);
    try {
      return await withDeadline({ clock: this.#parts.clock, millis: DEADLINE_MS, parent: call.signal, passed }, async (signal) =>
        this.#follow(url, { ...call, signal }),
      );
    } catch (error) {
      if (error instanceof UpstreamFailed || call.signal.aborted) throw error;
      throw new IssuerFailed(`${origin} cannot be reached: ${foreignText(causeText(error))}`, { cause: error });
    }
  }

  async #follow(url: string, call: IssuerCall): Promise<IssuerAnswer> {
    let at = new URL(url);
    let sent = call;
    for (let hop = 0; hop <= REDIRECTS; hop += 1) {
      const answer = await this.#send(at, sent);
      const { location } = answer.headers;
      if (answer.status < 300 || answer.status >= 400 || location === undefined || call.method === 'POST') return answer;
      const next = new URL(location, at);
      if (next.protocol !== at.protocol && next.protocol !== 'https:')
        throw new IssuerRefused(`${at.origin} redirects to ${next.protocol}//`);
      if (next.origin !== at.origin) sent = withoutHeaders(sent);
      at = next;
    }
    throw new IssuerRefused(`${at.origin} redirects more than ${REDIRECTS} times`);
  }

  async #send(url: URL, { trust, signal, method = 'GET', headers = {}, body, maxBytes = MAX_BYTES }: IssuerCall): Promise<IssuerAnswer> {
    const agent = await this.#agent(trust);
    const answer = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { accept: 'application/json', 'user-agent': 'strongroom', ...headers },
      ...(body === undefined ? {} : { body }),
      signal,
    });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) throw new IssuerRefused(`${url.origin} answers with more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    if (answer.statusCode >= 500) throw new IssuerFailed(`${url.origin} answers ${answer.statusCode}`);
    return { status: answer.statusCode, headers: firstValues(answer.headers), body: Buffer.concat(chunks) };
  }

  #agent(trust: Trust): Promise<Agent> {
    const key = createHash('sha256')
      .update(JSON.stringify([trust.ca, trust.serverNames]))
      .digest('hex');
    let agent = this.#agents.get(key);
    if (!agent) {
      const [oldest] = this.#agents.keys();
      if (this.#agents.size >= AGENTS) this.#agents.delete(oldest!);
      agent = makeAgent(trust);
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

async function makeAgent({ ca, serverNames }: Trust): Promise<Agent> {
  const { Agent } = await import('undici');
  const accepted: typeof checkServerIdentity = (host, certificate) => {
    const problems = serverNames.map((name) => checkServerIdentity(name, certificate));
    return problems.includes(undefined) ? undefined : (problems[0] ?? checkServerIdentity(host, certificate));
  };
  return new Agent({
    connections: CONNECTIONS,
    connect: {
      timeout: CONNECT_MS,
      ...(ca === '' ? {} : { ca }),
      ...(serverNames.length === 0 ? {} : { checkServerIdentity: accepted }),
    },
  });
}

/** What is for one server, such as an access token, is not sent to another. */
function withoutHeaders({ headers: _, ...call }: IssuerCall): IssuerCall {
  return call;
}

function firstValues(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) found[name.toLowerCase()] = first;
  }
  return found;
}

/** undici says `fetch failed`, and its cause what happened. Several addresses fail as an AggregateError without a text. */
function causeText(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return thrownText(error.errors[0]);
  return thrownText(error);
}
