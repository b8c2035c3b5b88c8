import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import ldapjs from 'ldapjs';

/**
 * ldapjs 3.0.7, narrowed to what this package uses of it: the socket, the request tracker, the message classes and the response parser.
 * README.md lists what it gets wrong and where each fault is kept out.
 */

export interface ExpectedCodes {
  indexOf(code: number): number;
}

export interface Message {
  messageId: number;
}

export interface RequestMessage extends Message {
  /** Throws when a part of it cannot be encoded. */
  toBer(): { readonly buffer: Buffer };
}

export interface Result extends Message {
  readonly status: number;
  readonly diagnosticMessage: string;
  readonly matchedDN: string;
  readonly referrals?: readonly string[];
  /** Of extended responses: `<buffer>` and hex digits. */
  readonly responseValue?: string;
}

export interface EntryMessage extends Message {
  readonly objectName: { toString(): string };
  readonly attributes: readonly { readonly type: string; readonly buffers: readonly Buffer[] }[];
}

export interface LibraryClient extends EventEmitter {
  urls: { href: string; hostname: string | undefined; port: unknown; secure: boolean }[];
  /** The TLS socket after StartTLS; null before the connection stands and after it is gone. */
  _socket:
    | (Duplex & { setNoDelay?(on: boolean): void; setKeepAlive?(on: boolean, delay: number): void; getProtocol?(): string | null })
    | null;
  _send(message: unknown, expect: ExpectedCodes, sink: null, callback: (error: Error | null, result?: unknown) => void): unknown;
  /** Null once the connection is gone. */
  _tracker: { readonly parser: MessageParser } | null;
  destroy(): void;
}

export interface MessageParser extends EventEmitter {
  /** The start of a message whose rest has not arrived. */
  readonly buffer: Buffer | null;
  write(data: Buffer): void;
}

type MessageClass = new (options: object) => RequestMessage;

interface Library {
  createClient(options: object): LibraryClient;
  BindRequest: MessageClass;
  SearchRequest: MessageClass;
  AddRequest: MessageClass;
  ModifyRequest: MessageClass;
  ModifyDNRequest: MessageClass;
  DeleteRequest: MessageClass;
  ExtendedRequest: MessageClass;
  SearchEntry: { new (): EntryMessage; readonly prototype: EntryMessage };
  SearchReference: new () => Message;
  Attribute: new (options: { type: string; values: (string | Buffer)[] }) => object;
  Change: new (options: { operation: string; modification: object }) => object;
  PagedResultsControl: { new (options: { value: { size: number; cookie: Buffer } }): object; OID: string };
}

const library = ldapjs as unknown as Library;
export const {
  createClient,
  Attribute,
  Change,
  PagedResultsControl,
  BindRequest,
  SearchRequest,
  AddRequest,
  ModifyRequest,
  ModifyDNRequest: ModifyDnRequest,
  DeleteRequest,
  ExtendedRequest,
  SearchEntry,
  SearchReference,
} = library;

/** A name that the library writes as it stands instead of parsing and re-variant it. */
export class RawDn {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get [Symbol.toStringTag](): string {
    return 'LdapDn';
  }

  toString(): string {
    return this.#text;
  }
}

let shielded = false;

/** Makes the library keep the names of found entries as the server wrote them. Done once, at the first dial. */
export function keepServerNames(): void {
  if (shielded) return;
  shielded = true;
  const { prototype } = library.SearchEntry;
  const original = Object.getOwnPropertyDescriptor(prototype, 'objectName');
  if (original?.set === undefined) throw new Error('ldapjs has changed: SearchResultEntry.objectName is not a property with a setter');
  const { set } = original;
  Object.defineProperty(prototype, 'objectName', {
    ...original,
    set(this: EntryMessage, value: unknown) {
      set.call(this, typeof value === 'string' ? new RawDn(value) : value);
    },
  });
}

/** Lets go of the socket in whatever state the client is. Listeners for errors stay behind, so that late ones do no harm. */
export function shut(client: LibraryClient, socket: AbortController): void {
  client.on('error', ignore);
  client._socket?.on('error', ignore);
  client.destroy();
  socket.abort();
}

export function ignore(): void {}

/** Whether a message is the answer that ends a request. */
export function isResult(message: unknown): message is Result {
  return typeof (message as Partial<Result> | undefined)?.status === 'number';
}
