import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MadeCertificate } from './certificate-maker.ts';
import { makeOcspResponse, ocspRefusal, readOcspRequest, type OcspAnswer } from './revocation-maker.ts';

/** Serves revocation lists and answers OCSP requests on a free loopback port, as servers of a CA do. */
export interface RevocationServer {
  readonly url: string;
  /** How many requests came, by path. */
  readonly asked: Map<string, number>;
  /** The files by path, such as `/ca.crl`. Whatever is put in is served from then on. */
  readonly files: Map<string, Buffer>;
  /** What `/ocsp` says of a certificate: good unless changed. A number is a status of HTTP, and `tryLater` a refusal of the responder. */
  answer: (serial: bigint) => OcspAnswer | number | 'tryLater';
  /** Takes requests and does not answer them. */
  hang: boolean;
  stop(): Promise<void>;
}

const LONGEST_REQUEST = 4_096;

/** Answers for certificates of `issuer`; requests about others are refused, like those that are no OCSP. */
export async function startRevocationServer(issuer: MadeCertificate, now: () => Date = () => new Date()): Promise<RevocationServer> {
  const state = {
    asked: new Map<string, number>(),
    files: new Map<string, Buffer>(),
    answer: (): OcspAnswer | number | 'tryLater' => ({
      status: 'good',
      thisUpdate: now(),
      nextUpdate: new Date(now().getTime() + 3_600_000),
    }),
    hang: false,
  } as Omit<RevocationServer, 'url' | 'stop'>;
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '/';
    state.asked.set(path, (state.asked.get(path) ?? 0) + 1);
    if (state.hang) return;
    const file = state.files.get(path);
    if (file) {
      response.end(file);
      return;
    }
    if (path !== '/ocsp' || request.method !== 'POST' || request.headers['content-type'] !== 'application/ocsp-request') {
      response.writeHead(404).end();
      return;
    }
    bodyOf(request)
      .then((body) => {
        const asked = readOcspRequest(body, issuer);
        const answer = state.answer(asked.serial);
        if (typeof answer === 'number') response.writeHead(answer).end();
        else {
          const der = answer === 'tryLater' ? ocspRefusal('tryLater') : makeOcspResponse(issuer, asked, answer);
          response.writeHead(200, { 'content-type': 'application/ocsp-response' }).end(der);
        }
      })
      .catch(() => {
        response.writeHead(200, { 'content-type': 'application/ocsp-response' }).end(ocspRefusal('malformedRequest'));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > LONGEST_REQUEST) throw new RangeError('the request is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
