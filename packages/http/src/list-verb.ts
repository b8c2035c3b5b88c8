import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { answerClientFault, LATE, type ClientFault } from './client-fault.ts';
import { takesItsTime } from './streamed-request.ts';

/**
 * Node's parser knows a fixed set of verbs and refuses the two that this API has of its own. It stops exactly at the verb, however,
 * and nothing is lost by then: the parser is restarted on the same bytes, as a GET of a target that only this process can make,
 * and the verb is restored before anybody sees the request. Requests with other verbs never come here, and cost nothing more.
 */
const VERBS = ['LIST', 'SCAN'] as const;
type Verb = (typeof VERBS)[number];

/** The bytes of a verb that the parser takes for the beginning of one it knows (LINK, SEARCH); it stops at the next. */
const ACCEPTED: Readonly<Record<Verb, number>> = { LIST: 2, SCAN: 1 };

const MARK = `/~${randomBytes(16).toString('hex')}/`;
const MARK_OF: Readonly<Record<Verb, string>> = { LIST: `GET ${MARK}L`, SCAN: `GET ${MARK}S` };

/** What this needs of node's own parser. None of it is documented: without it, the verbs are refused. */
interface NodeParser {
  initialize(type: number, resource: object, maxHeaderSize: number, lenient: number, connections: unknown): void;
  execute(bytes: Buffer): number | ClientFault;
  readonly constructor: { readonly REQUEST?: number; readonly kOnExecute?: number };
  [callback: number]: ((result: number) => void) | undefined;
}

type HttpServer = (Server | SecureServer) & { readonly maxHeaderSize?: number };
type HttpSocket = Socket & { readonly parser?: NodeParser | null };

/**
 * Lets a server of node (http or https) take the verbs LIST and SCAN. What else is wrong with the bytes of a caller goes to the
 * listeners that the server had for `clientError`, or is answered here.
 */
export function acceptListVerb(server: HttpServer): void {
  const others = server.listeners('clientError') as FaultListener[];
  server.removeAllListeners('clientError');
  const onFault = (fault: ClientFault, socket: HttpSocket): void => {
    if (fault.code === LATE && takesItsTime(socket)) return;
    if (resume(server, fault, socket, onFault)) return;
    if (others.length === 0) answerClientFault(fault, socket);
    for (const other of others) other.call(server, fault, socket);
  };
  server.on('clientError', onFault);
  server.prependListener('request', restoreVerb);
}

/** Undoes the disguise of a LIST or SCAN. */
export function restoreVerb(request: IncomingMessage): void {
  const { url } = request;
  if (url === undefined || url.charCodeAt(1) !== 0x7e || !url.startsWith(MARK)) return;
  request.method = VERBS.find((verb) => verb[0] === url[MARK.length])!;
  request.url = url.slice(MARK.length + 1);
}

type FaultListener = (fault: ClientFault, socket: HttpSocket) => void;

/** True when the parser goes on. */
function resume(server: HttpServer, fault: ClientFault, socket: HttpSocket, onFault: FaultListener): boolean {
  const { parser } = socket;
  if (fault.code !== 'HPE_INVALID_METHOD' || !fault.rawPacket || fault.bytesParsed === undefined) return false;
  if (typeof parser?.initialize !== 'function' || typeof parser.constructor.REQUEST !== 'number') return false;
  const start = verbStart(fault.rawPacket, fault.bytesParsed);
  if (start === undefined) return false;
  const type = parser.constructor.REQUEST;
  parser.initialize(type, { type: 'HTTPINCOMINGMESSAGE', socket }, server.maxHeaderSize ?? 0, 0, connectionsOf(server));
  const go = (verb: Verb, rest: Buffer): void => {
    if (socket.destroyed || socket.parser !== parser) return;
    const bytes = Buffer.concat([Buffer.from(MARK_OF[verb]), rest]);
    const result = parser.execute(bytes);
    if (typeof result === 'number') parser[parser.constructor.kOnExecute ?? -1]?.(result);
    else onFault(Object.assign(result, { rawPacket: bytes }), socket);
  };
  if (start.rest === undefined) gather(socket, start.seen, go, onFault, fault);
  else {
    // The parser is still at work on the bytes it refused.
    const { verb, rest } = start;
    process.nextTick(() => {
      go(verb, rest);
    });
  }
  return true;
}

/** A verb, and what follows it and its space; or the beginning of one, when the packet ends within it. */
type VerbStart = { readonly verb: Verb; readonly rest: Buffer } | { readonly seen: string; readonly rest?: never };

/** `stopped` is where the parser stopped; what it accepted before that may have come in an earlier packet. */
function verbStart(packet: Buffer, stopped: number): VerbStart | undefined {
  for (const verb of VERBS) {
    const before = Math.min(stopped, ACCEPTED[verb]);
    const seen =
      verb.slice(0, ACCEPTED[verb] - before) + packet.toString('latin1', stopped - before, stopped - ACCEPTED[verb] + verb.length + 1);
    if (seen === `${verb} `) return { verb, rest: packet.subarray(stopped - ACCEPTED[verb] + verb.length + 1) };
    if (`${verb} `.startsWith(seen)) return { seen };
  }
  return undefined;
}

/** Waits, in place of the parser, for the rest of a verb that came in pieces. */
function gather(
  socket: HttpSocket,
  seen: string,
  go: (verb: Verb, rest: Buffer) => void,
  onFault: FaultListener,
  fault: ClientFault,
): void {
  const listeners = socket.listeners('data') as ((chunk: Buffer) => void)[];
  for (const listener of listeners) socket.removeListener('data', listener);
  let bytes = Buffer.from(seen, 'latin1');
  const onData = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    const text = bytes.toString('latin1', 0, 5);
    const verb = VERBS.find((one) => `${one} `.startsWith(text));
    if (verb && text.length < 5) return;
    socket.removeListener('data', onData);
    for (const listener of listeners) socket.on('data', listener);
    if (verb) go(verb, bytes.subarray(5));
    else onFault(Object.assign(fault, { rawPacket: bytes, bytesParsed: 0 }), socket);
  };
  socket.on('data', onData);
}

/** The list by which a server watches its timeouts; a parser that is not in it would never time out. */
function connectionsOf(server: object): unknown {
  const key = Object.getOwnPropertySymbols(server).find((symbol) => symbol.description === 'http.server.connections');
  return key === undefined ? undefined : (server as Record<symbol, unknown>)[key];
}
