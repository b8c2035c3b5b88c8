import type {
  Connection,
  BindOptions,
  AttributeValues,
  Established,
  Modification,
  Rename,
  RequestOptions,
  SearchRequest,
} from './connection.ts';
import type { ServiceOptions } from './directory-requests.ts';
import { normalizeDn, isDn } from './dn.ts';
import { LdapEntry } from './entry.ts';
import { LdapDialError, LdapError } from './error.ts';
import { formatFilter } from './filter.ts';
import { ReferralError, referredError } from './referral-error.ts';
import { isListed } from './referral-hosts.ts';
import { parseReferralUrl } from './referral-url.ts';
import type { ReferralUrl } from './referral-url.ts';
import { resultCode } from './result-codes.ts';
import { canonicalServers } from './server-urls.ts';

/** Referrals in a row at most. */
const DEEPEST = 5;

/** What it takes to follow referrals. */
export interface ReferralRoutes {
  /** As `referralHosts` gives them. */
  readonly hosts: readonly string[];
  readonly starttls: boolean;
  /** Lends a connection to a server, `ldap://host:port`, bound as the same account as the connection that follows. */
  at<T>(server: string, work: (connection: Connection) => Promise<T>, options: ServiceOptions): Promise<T>;
  /** Told which server took the change of an entry. */
  changed(dn: string, server: string): void;
  /** Told of a referral to a listed host that is not followed, and why. */
  skipped(url: string, reason: string): void;
}

/** A request at one server: that of the connection itself, or one of several that are equally good. */
interface Hop {
  readonly targets: readonly ReferralUrl[] | undefined;
  /** Of the request that was referred; URLs may say otherwise. */
  readonly base: string;
  readonly scope: NonNullable<SearchRequest['scope']>;
  readonly filter: SearchRequest['filter'];
  readonly depth: number;
  /** Beside what another server holds, as opposed to in its place. */
  readonly isContinuation: boolean;
}

interface Answer extends Pick<Hop, 'base' | 'scope' | 'filter'> {
  readonly entries: readonly LdapEntry[];
  readonly references: readonly (readonly string[])[];
  /** The answer is a referral of the whole request. */
  readonly referral: LdapError | undefined;
  /** The server that answered. */
  readonly url: string;
  readonly encrypted: boolean;
}

/**
 * A connection of a service account whose searches and changes follow referrals to listed hosts (RFC 4511 sections 4.1.10 and 4.5.3). Referrals elsewhere
 * are skipped; where the whole request was referred, that is an error which names the URL.
 */
export class FollowingConnection implements Connection {
  readonly #inner: Connection;
  readonly #routes: ReferralRoutes;
  /** Whether a change that was referred may run twice. */
  readonly #idempotent: boolean;

  constructor(inner: Connection, routes: ReferralRoutes, idempotent: boolean) {
    this.#inner = inner;
    this.#routes = routes;
    this.#idempotent = idempotent;
  }

  get url(): string {
    return this.#inner.url;
  }

  get established(): Established {
    return this.#inner.established;
  }

  get alive(): boolean {
    return this.#inner.alive;
  }

  get boundAs(): string | undefined {
    return this.#inner.boundAs;
  }

  async bind(name: string, password: string, options?: BindOptions): Promise<void> {
    return this.#inner.bind(name, password, options);
  }

  async whoAmI(options?: RequestOptions): Promise<string> {
    return this.#inner.whoAmI(options);
  }

  close(): void {
    this.#inner.close();
  }

  async search(request: SearchRequest): Promise<LdapEntry[]> {
    const { base, scope = 'sub', filter, server, sizeLimit = 0 } = request;
    const start = server === undefined ? undefined : parseReferralUrl(server);
    const queue: Hop[] = [{ targets: start && [start], base, scope, filter, depth: 0, isContinuation: false }];
    const visited = new Set<string>();
    const found = new Map<string, LdapEntry>();
    for (let hop = queue.shift(); hop !== undefined; hop = queue.shift()) {
      const answer = await this.#visit(hop, request, visited, sizeLimit === 0 ? 0 : Math.max(1, sizeLimit - found.size));
      if (answer === undefined) continue;
      for (const entry of answer.entries) found.set(`${canonicalServers([answer.url])} ${entry.dn}`, entry);
      if (sizeLimit > 0 && found.size > sizeLimit)
        throw new LdapError(resultCode.sizeLimitExceeded, {
          url: this.url,
          diagnosticMessage: `more than ${sizeLimit} entries on several servers`,
        });
      queue.push(...this.#next(answer, hop.depth, visited));
    }
    return [...found.values()];
  }

  async add(dn: string, attributes: readonly AttributeValues[], options: RequestOptions = {}): Promise<void> {
    return this.#change(dn, options, async (connection, name) => connection.add(name, attributes, options));
  }

  async modify(dn: string, changes: readonly Modification[], options: RequestOptions = {}): Promise<void> {
    return this.#change(dn, options, async (connection, name) => connection.modify(name, changes, options));
  }

  async modifyDn(dn: string, rename: Rename, options: RequestOptions = {}): Promise<void> {
    return this.#change(dn, options, async (connection, name) => connection.modifyDn(name, rename, options));
  }

  async delete(dn: string, options: RequestOptions = {}): Promise<void> {
    return this.#change(dn, options, async (connection, name) => connection.delete(name, options));
  }

  /** Undefined where the same was searched before. */
  async #visit(hop: Hop, request: SearchRequest, visited: Set<string>, sizeLimit: number): Promise<Answer | undefined> {
    const ask = async (connection: Connection, target: ReferralUrl | undefined): Promise<Answer> => {
      const place = placeOf(hop, target);
      const references: (readonly string[])[] = [];
      const answer = (entries: readonly LdapEntry[], referral?: LdapError): Answer => ({
        ...place,
        entries,
        references,
        referral,
        url: connection.url,
        encrypted: connection.established.tls !== undefined,
      });
      try {
        const entries = await connection.search({ ...request, ...place, sizeLimit, onReference: (urls) => void references.push(urls) });
        return answer(target === undefined ? entries : entries.map(({ dn, attributes }) => new LdapEntry(dn, attributes, target.server)));
      } catch (error) {
        if (error instanceof LdapError && error.code === resultCode.referral && error.referrals.length > 0) return answer([], error);
        throw error;
      }
    };
    if (hop.targets === undefined) {
      visited.add(keyOf(canonicalServers([this.url]), hop));
      return ask(this.#inner, undefined);
    }
    if (hop.targets.some((target) => visited.has(keyOf(target.server, placeOf(hop, target))))) return undefined;
    try {
      return await this.#atOneOf(hop.targets, request.signal, true, async (connection, target) => {
        visited.add(keyOf(target.server, placeOf(hop, target)));
        return ask(connection, target);
      });
    } catch (error) {
      if (!hop.isContinuation || !(error instanceof ReferralError) || error.code !== resultCode.noSuchObject) throw error;
      this.#routes.skipped(error.server, 'the entry that the referral names is not there');
      return undefined;
    }
  }

  /** Where an answer leads. */
  #next({ base, scope, filter, references, referral, url, encrypted }: Answer, depth: number, visited: ReadonlySet<string>): Hop[] {
    const hops: Hop[] = [];
    const place = { base, scope, filter, depth: depth + 1 };
    for (const urls of references) {
      const targets = this.#followable(urls, encrypted);
      if (targets.length === 0) continue;
      if (depth >= DEEPEST) throw tooDeep(targets[0]!, url);
      hops.push({ ...place, targets, isContinuation: true });
    }
    if (referral !== undefined) {
      const targets = this.#targetsOf(referral, depth, encrypted);
      if (targets.some((target) => visited.has(keyOf(target.server, placeOf(place, target))))) throw loop(targets[0]!, url);
      hops.push({ ...place, targets, isContinuation: false });
    }
    return hops;
  }

  async #change(dn: string, { signal, server }: RequestOptions, run: (connection: Connection, dn: string) => Promise<void>): Promise<void> {
    const start = server === undefined ? undefined : parseReferralUrl(server);
    let targets = start && [start];
    let name = dn;
    const visited = new Set<string>();
    for (let depth = 0; ; depth++) {
      let answered: { readonly url: string; readonly encrypted: boolean } = { url: this.url, encrypted: true };
      const attempt = async (connection: Connection, target: ReferralUrl | undefined): Promise<ReferralUrl | undefined> => {
        name = target?.base ?? name;
        visited.add(changeKey(target?.server ?? canonicalServers([connection.url]), name));
        answered = { url: connection.url, encrypted: connection.established.tls !== undefined };
        await run(connection, name);
        return target;
      };
      try {
        const took =
          targets === undefined ? await attempt(this.#inner, undefined) : await this.#atOneOf(targets, signal, this.#idempotent, attempt);
        if (took !== undefined) this.#routes.changed(dn, took.server);
        return;
      } catch (error) {
        const referral = error instanceof ReferralError ? error.cause : error;
        if (!(referral instanceof LdapError) || referral.code !== resultCode.referral || referral.referrals.length === 0) throw error;
        targets = this.#targetsOf(referral, depth, answered.encrypted);
        if (targets.some((target) => visited.has(changeKey(target.server, target.base ?? name)))) throw loop(targets[0]!, answered.url);
      }
    }
  }

  /** The servers are equally good: the next one is asked where one cannot be reached. */
  async #atOneOf<T>(
    targets: readonly ReferralUrl[],
    signal: AbortSignal | undefined,
    idempotent: boolean,
    work: (connection: Connection, target: ReferralUrl) => Promise<T>,
  ): Promise<T> {
    let failed: unknown;
    for (const target of targets) {
      try {
        return await this.#routes.at(target.server, async (connection) => work(connection, target), { signal, idempotent });
      } catch (error) {
        failed = referredError(target.server, error);
        if (!(error instanceof LdapDialError)) throw failed;
      }
    }
    throw failed;
  }

  /** Where the whole request is referred to. @throws ReferralError where nobody may follow */
  #targetsOf(referral: LdapError, depth: number, encrypted: boolean): ReferralUrl[] {
    const targets = this.#followable(referral.referrals, encrypted);
    const [first] = targets;
    if (first === undefined) throw referral;
    if (depth >= DEEPEST) throw tooDeep(first, referral.url);
    return targets;
  }

  #followable(urls: readonly string[], encrypted: boolean): ReferralUrl[] {
    return urls.flatMap((text) => {
      const url = parseReferralUrl(text);
      if (url === undefined || !isListed(this.#routes.hosts, url)) return [];
      if (!encrypted || url.secure || this.#routes.starttls) return [url];
      this.#routes.skipped(url.server, 'it is not encrypted, and the connection that referred there is; set starttls to follow it');
      return [];
    });
  }
}

function placeOf(place: Pick<Hop, 'base' | 'scope' | 'filter'>, target: ReferralUrl | undefined): Pick<Hop, 'base' | 'scope' | 'filter'> {
  return { base: target?.base ?? place.base, scope: target?.scope ?? place.scope, filter: target?.filter ?? place.filter };
}

function keyOf(server: string, { base, scope, filter = '' }: Pick<Hop, 'base' | 'scope' | 'filter'>): string {
  return JSON.stringify([server, nameKey(base), scope, typeof filter === 'string' ? filter : formatFilter(filter)]);
}

function changeKey(server: string, dn: string): string {
  return JSON.stringify([server, nameKey(dn)]);
}

/** Names that mean the same entry have one key. */
export function nameKey(dn: string): string {
  return (isDn(dn) ? normalizeDn(dn) : dn).toLowerCase();
}

function loop({ server }: ReferralUrl, url: string): ReferralError {
  return unfollowed(server, url, 'the referrals go round in a circle');
}

function tooDeep({ server }: ReferralUrl, url: string): ReferralError {
  return unfollowed(server, url, `more than ${DEEPEST} referrals in a row`);
}

function unfollowed(server: string, url: string, diagnosticMessage: string): ReferralError {
  return new ReferralError(server, new LdapError(resultCode.referral, { url, diagnosticMessage }));
}
