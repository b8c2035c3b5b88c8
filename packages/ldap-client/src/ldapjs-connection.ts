import { endOfTurn } from '@strongroom/engine-sdk';
import type { DirectoryClock } from './clock.ts';
import type {
  AttributeValues,
  BindOptions,
  Connection,
  Established,
  Modification,
  Rename,
  RequestOptions,
  SearchRequest as Search,
} from './connection.ts';
import { LdapEntry } from './entry.ts';
import { LdapError } from './error.ts';
import { encodeFilter } from './filter-ber.ts';
import { parseFilter } from './filter.ts';
import type { Filter } from './filter.ts';
import { isResult, shut } from './ldapjs-library.ts';
import * as wire from './ldapjs-library.ts';
import type { EntryMessage, LibraryClient, Message, RequestMessage, Result } from './ldapjs-library.ts';
import { pageCookie, splitControls } from './message-controls.ts';
import type { Controls } from './message-controls.ts';
import { MessageFrames } from './message-frames.ts';
import { MessageIds } from './message-ids.ts';
import { referralsIn } from './message-referrals.ts';
import { resultCode } from './result-codes.ts';
import { asksForRange, completed } from './ranges.ts';
import { checkReply, endTagOf } from './reply-check.ts';

const derefCodes = { never: 0, searching: 1, finding: 2, always: 3 } as const;
const everything: Filter = { kind: 'present', attribute: 'objectClass' };
const whoAmIOid = '1.3.6.1.4.1.4203.1.11.3';

/** What hears of answers to a search before its result. */
interface Listener {
  onEntry(entry: EntryMessage): void;
  onReference?(urls: readonly string[]): void;
  /** Told the controls of the result. */
  onControls?(controls: Controls): void;
}

/** A request that was sent. */
interface Pending {
  readonly id: number;
  /** Of the message that ends it. */
  readonly endTag: number | undefined;
  fail(error: LdapError): void;
  succeed(result: Result): void;
  readonly listener: Listener | undefined;
}

/**
 * A connection over a connected ldapjs client. Its socket and its message classes are used; sending and matching answers to requests is
 * done here, since the client renders all that passes through it for a log, and knows no result codes but its own.
 */
export class LdapjsConnection implements Connection {
  readonly url: string;
  readonly established: Established;
  readonly #client: LibraryClient;
  readonly #socket: AbortController;
  readonly #requestMillis: number;
  readonly #clock: DirectoryClock;
  /** Few at a time. A Map would keep what was in it in memory: see LinkedList. */
  readonly #pending: Pending[] = [];
  readonly #ids = new MessageIds();
  readonly #closeListeners = new Set<(reason: LdapError) => void>();
  #frames: MessageFrames | undefined;
  /** Arrived in this turn of the event loop, and not read yet. */
  #received: Buffer[] = [];
  #alive = true;
  #boundAs: string | undefined = '';

  constructor(
    client: LibraryClient,
    socket: AbortController,
    { url, established, requestMillis }: { readonly url: string; readonly established: Established; readonly requestMillis: number },
    clock: DirectoryClock,
  ) {
    this.#client = client;
    this.#socket = socket;
    this.url = url;
    this.established = established;
    this.#requestMillis = requestMillis;
    this.#clock = clock;
    const lost = (error?: unknown): void => {
      this.#read();
      this.#end(
        new LdapError('NETWORK', {
          url,
          diagnosticMessage: error instanceof Error ? `connection lost: ${error.message}` : 'connection closed by the server',
        }),
      );
    };
    client.on('error', lost);
    client.once('end', () => lost());
    client.once('close', () => lost());
    client._socket?.once('end', () => lost());
    client._socket?.once('close', () => lost());
    this.#listen(lost);
  }

  get alive(): boolean {
    return this.#alive;
  }

  get boundAs(): string | undefined {
    return this.#boundAs;
  }

  /** Requests sent and not yet answered. */
  get pending(): number {
    return this.#pending.length;
  }

  /** Calls back once, when either side has closed the connection. */
  onClose(listener: (reason: LdapError) => void): void {
    if (this.#alive) this.#closeListeners.add(listener);
    else listener(new LdapError('CLOSED', { url: this.url, diagnosticMessage: 'the connection is closed' }));
  }

  async bind(name: string, password: string, options: BindOptions = {}): Promise<void> {
    if (password === '' && options.allowUnauthenticated !== true)
      throw new LdapError('EMPTY_PASSWORD', { url: this.url, diagnosticMessage: 'ldap: empty password not allowed by the client' });
    this.#boundAs = undefined;
    const result = await this.#request(new wire.BindRequest({ name, credentials: password }), options);
    this.#boundAs = result.status === 0 && password !== '' ? name : '';
    this.#check(result);
  }

  async search(request: Search): Promise<LdapEntry[]> {
    const filter = typeof request.filter === 'string' ? this.#parse(request.filter) : (request.filter ?? everything);
    const entries: LdapEntry[] = [];
    const onEntry = (message: EntryMessage): void => void entries.push(readEntry(message));
    const onReference = (urls: readonly string[]): void => request.onReference?.(urls);
    const options = {
      baseObject: new wire.RawDn(request.base),
      scope: request.scope ?? 'sub',
      filter: new RawFilter(filter),
      derefAliases: derefCodes[request.derefAliases ?? 'never'],
      sizeLimit: request.sizeLimit ?? 0,
      timeLimit: Math.ceil(request.timeoutSeconds ?? this.#requestMillis / 1000),
      attributes: request.attributes ?? [],
    };
    const pageSize = request.pageSize ?? 0;
    const whole = async (): Promise<LdapEntry[]> => {
      if (asksForRange(request.attributes)) return entries;
      const result: LdapEntry[] = [];
      for (const entry of entries) result.push(await completed(entry, (attribute) => this.#readAttribute(entry.dn, attribute, request)));
      return result;
    };
    if (pageSize <= 0) {
      this.#check(
        await this.#request(
          this.#build(() => new wire.SearchRequest(options)),
          request,
          { onEntry, onReference },
        ),
      );
      return whole();
    }
    let cookie: Buffer = Buffer.alloc(0);
    const onControls = (controls: Controls): void => {
      const value = controls.get(wire.PagedResultsControl.OID);
      cookie = value === undefined ? Buffer.alloc(0) : pageCookie(value);
    };
    do {
      const control = new wire.PagedResultsControl({ value: { size: pageSize, cookie } });
      const result = await this.#request(
        this.#build(() => new wire.SearchRequest({ ...options, controls: [control] })),
        request,
        { onEntry, onReference, onControls },
      );
      this.#check(result);
    } while (cookie.length > 0);
    return whole();
  }

  async #readAttribute(base: string, attribute: string, { signal, timeoutSeconds }: RequestOptions): Promise<LdapEntry | undefined> {
    const [entry] = await this.search({ base, scope: 'base', attributes: [attribute], signal, timeoutSeconds });
    return entry;
  }

  async add(dn: string, attributes: readonly AttributeValues[], options: RequestOptions = {}): Promise<void> {
    const message = this.#build(() => new wire.AddRequest({ entry: new wire.RawDn(dn), attributes: attributes.map(wireAttribute) }));
    this.#check(await this.#request(message, options));
  }

  async modify(dn: string, changes: readonly Modification[], options: RequestOptions = {}): Promise<void> {
    const message = this.#build(
      () =>
        new wire.ModifyRequest({
          object: new wire.RawDn(dn),
          changes: changes.map((change) => new wire.Change({ operation: change.operation, modification: wireAttribute(change) })),
        }),
    );
    this.#check(await this.#request(message, options));
  }

  async modifyDn(dn: string, { newRdn, deleteOldRdn = true, newSuperior }: Rename, options: RequestOptions = {}): Promise<void> {
    const message = this.#build(
      () =>
        new wire.ModifyDnRequest({
          entry: new wire.RawDn(dn),
          newRdn: new wire.RawDn(newRdn),
          deleteOldRdn,
          ...(newSuperior === undefined ? {} : { newSuperior: new wire.RawDn(newSuperior) }),
        }),
    );
    this.#check(await this.#request(message, options));
  }

  async delete(dn: string, options: RequestOptions = {}): Promise<void> {
    this.#check(
      await this.#request(
        this.#build(() => new wire.DeleteRequest({ entry: new wire.RawDn(dn) })),
        options,
      ),
    );
  }

  async whoAmI(options: RequestOptions = {}): Promise<string> {
    const result = await this.#request(new wire.ExtendedRequest({ requestName: whoAmIOid }), options);
    this.#check(result);
    return Buffer.from((result.responseValue ?? '').replace(/^<buffer>/, ''), 'hex').toString('utf8');
  }

  close(): void {
    this.#end(new LdapError('CLOSED', { url: this.url, diagnosticMessage: 'the connection was closed' }));
  }

  #parse(text: string): Filter {
    return this.#build(() => parseFilter(text));
  }

  /** What cannot be put into a message fails before anything is sent. */
  #build<T>(make: () => T): T {
    try {
      return make();
    } catch (error) {
      throw new LdapError('INVALID', { url: this.url, diagnosticMessage: (error as Error).message });
    }
  }

  #check(result: Result): void {
    if (result.status === 0) return;
    const { status, diagnosticMessage, matchedDN: matchedDn, referrals = [] } = result;
    const told = referrals.length === 0 ? '' : `the server refers to ${referrals.join(', ')}`;
    const text = [diagnosticMessage, told].filter((part) => part !== '').join('; ');
    throw new LdapError(status, { url: this.url, diagnosticMessage: text, matchedDn, referrals });
  }

  /** Takes the socket's data over from the client. */
  #listen(lost: (error: unknown) => void): void {
    const socket = this.#client._socket;
    const parser = this.#client._tracker?.parser;
    if (socket === null || parser === undefined) return lost(undefined);
    let flaw: unknown;
    let controls: Controls | undefined;
    parser.removeAllListeners('message').removeAllListeners('error');
    let bytesOf: Buffer = Buffer.alloc(0);
    parser.on('message', (message: Message) => this.#route(message, bytesOf, controls));
    parser.on('error', (error: unknown) => (flaw = error));
    this.#frames = new MessageFrames((bytes) => {
      if (!this.#alive) return;
      checkReply(bytes, (id) => this.#pendingOf(id)?.endTag);
      const split = splitControls(bytes);
      controls = split.controls;
      bytesOf = split.message;
      parser.write(split.message);
      if (flaw !== undefined) throw flaw;
    });
    // Answers to several connections that arrive together are read together, so that what waits for them goes on together.
    socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
      if (this.#received.push(chunk) === 1) void endOfTurn().then(() => this.#read());
    });
  }

  #read(): void {
    const chunks = this.#received;
    this.#received = [];
    try {
      for (const chunk of chunks) this.#frames?.push(chunk);
    } catch (error) {
      this.#end(this.#unknown('NETWORK', `the server sent what cannot be read: ${(error as Error).message}`));
    }
  }

  /** What nobody waits for, such as notices of the server's own, is passed over. */
  #route(message: Message, bytes: Buffer, controls: Controls | undefined): void {
    const pending = this.#pendingOf(message.messageId);
    if (pending === undefined) return;
    if (isResult(message)) {
      if (controls !== undefined) pending.listener?.onControls?.(controls);
      pending.succeed(message.status === resultCode.referral ? withReferrals(message, referralsIn(bytes)) : message);
    } else if (message instanceof wire.SearchEntry) {
      if (pending.listener === undefined) this.#end(this.#unknown('NETWORK', 'the server answered out of turn'));
      else pending.listener.onEntry(message);
    } else if (message instanceof wire.SearchReference) pending.listener?.onReference?.(referralsIn(bytes));
  }

  #request(message: RequestMessage, { signal, timeoutSeconds }: RequestOptions, listener?: Listener): Promise<Result> {
    // What has arrived by now answers nothing that is sent from here on.
    this.#read();
    if (!this.#alive) return Promise.reject(new LdapError('CLOSED', { url: this.url, diagnosticMessage: 'the connection is closed' }));
    if (signal?.aborted) return Promise.reject(new LdapError('ABORTED', { url: this.url, diagnosticMessage: 'the caller gave up' }));
    const id = this.#ids.next((one) => this.#pendingOf(one) !== undefined);
    message.messageId = id;
    const bytes = this.#build(() => message.toBer().buffer);
    const millis = timeoutSeconds === undefined ? this.#requestMillis : timeoutSeconds * 1000;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        const at = this.#pending.indexOf(pending);
        if (at >= 0) this.#pending.splice(at, 1);
        cancelDeadline();
        signal?.removeEventListener('abort', onAbort);
      };
      const pending: Pending = {
        id,
        endTag: endTagOf(bytes),
        fail: (error) => {
          settle();
          reject(error);
        },
        succeed: (result) => {
          settle();
          resolve(result);
        },
        listener,
      };
      const onAbort = (): void => this.#end(this.#unknown('ABORTED', 'the caller gave up'));
      const cancelDeadline = this.#clock.after(millis, () => this.#end(this.#unknown('TIMEOUT', `no answer within ${millis / 1000} s`)));
      this.#pending.push(pending);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#client._socket?.write(bytes);
    });
  }

  #pendingOf(id: number): Pending | undefined {
    return this.#pending.find((one) => one.id === id);
  }

  #unknown(code: 'NETWORK' | 'TIMEOUT' | 'ABORTED', diagnosticMessage: string): LdapError {
    return new LdapError(code, { url: this.url, diagnosticMessage, outcomeUnknown: true });
  }

  #end(reason: LdapError): void {
    if (!this.#alive) return;
    this.#alive = false;
    shut(this.#client, this.#socket);
    const { code, diagnosticMessage, url } = reason;
    for (const { fail } of [...this.#pending]) fail(new LdapError(code, { diagnosticMessage, url, outcomeUnknown: true }));
    for (const listener of this.#closeListeners) listener(reason);
    this.#closeListeners.clear();
  }
}

/** Our own encoding in the form that the library asks of a filter. */
class RawFilter {
  readonly #filter: Filter;

  constructor(filter: Filter) {
    this.#filter = filter;
  }

  get [Symbol.toStringTag](): string {
    return 'FilterString';
  }

  toBer(): { buffer: Buffer } {
    return { buffer: encodeFilter(this.#filter) };
  }
}

function withReferrals({ messageId, status, diagnosticMessage, matchedDN }: Result, referrals: readonly string[]): Result {
  return { messageId, status, diagnosticMessage, matchedDN, referrals };
}

function wireAttribute({ attribute, values }: AttributeValues): object {
  return new wire.Attribute({ type: attribute, values: values.map((value) => (typeof value === 'string' ? Buffer.from(value) : value)) });
}

function readEntry(message: EntryMessage): LdapEntry {
  const attributes = new Map<string, readonly Buffer[]>();
  for (const attribute of message.attributes) attributes.set(attribute.type, attribute.buffers);
  return new LdapEntry(message.objectName.toString(), attributes);
}
