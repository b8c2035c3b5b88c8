import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { currentAnswer } from './current-answer.ts';
import { errorsBody } from './envelope.ts';
import { othersWait, postponesTimeout } from './pipelined-requests.ts';
import { REQUEST_ID } from './request-id.ts';

/** What node says about a request that is no HTTP, or that came too slowly. */
export interface ClientFault extends Error {
  readonly code?: string;
  /** The parser's own words. */
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
};

/** The code of a request that is late. */
export const LATE = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Sockets that end. */
const ending = new WeakSet<Duplex>();

/** Answers what did not become a request, and ends the connection. Answers still owed to earlier requests are given first. */
export function answerClientFault(fault: ClientFault, socket: Duplex): void {
  if (ending.has(socket) || (fault.code === LATE && postponesTimeout(socket))) return;
  const owed = currentAnswer(socket);
  if (owed?.req.complete) {
    ending.add(socket);
    endAfterAnswers(socket);
    return;
  }
  if (!socket.writable || fault.code === 'ECONNRESET' || owed?.headersSent) {
    socket.destroy();
    return;
  }
  const [status, text] = statusOf(fault);
  endWith(socket, status, text === '' ? [] : [text]);
}

/** Ends the connection once all requests that have arrived are answered. */
function endAfterAnswers(socket: Duplex): void {
  const owed = currentAnswer(socket);
  if (!owed) {
    socket.destroy();
    return;
  }
  if (!othersWait(socket)) owed.shouldKeepAlive = false;
  owed.once('close', () => endAfterAnswers(socket));
}

/** One answer without a request, and the end of the connection. */
export function endWith(socket: Duplex, status: number, errors: readonly string[]): void {
  if (ending.has(socket)) return;
  const body = errorsBody(errors);
  ending.add(socket);
  socket.on('error', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\nCache-Control: no-store\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n${REQUEST_ID}: ${randomUUID()}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

function statusOf(fault: ClientFault): [status: number, text: string] {
  switch (fault.code) {
    case 'HPE_INVALID_METHOD':
      return [405, ''];
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'the request headers are too large'];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, 'the chunk extensions of the body are too large'];
    case LATE:
      return [408, 'the request did not arrive in time'];
    default:
      return [400, `malformed HTTP request${fault.reason === undefined ? '' : `: ${fault.reason}`}`];
  }
}
