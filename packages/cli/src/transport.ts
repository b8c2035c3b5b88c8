import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { Connection } from './connection.ts';
import { EXIT, Failure } from './failure.ts';

/** One request as it goes out. `url` is absolute. */
export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** A body to send as it comes, and its length where that is known. */
export interface WireBody {
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly length?: number;
}

/** An answer whose body is read as it comes. */
export interface StreamedReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface WireReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Carries requests to one server; `close` lets the process end. */
export interface Transport {
  send(request: WireRequest): Promise<WireReply>;
  /** May take as long as something goes on to come or go. */
  stream(request: WireRequest, body?: WireBody): Promise<StreamedReply>;
  close(): void;
}

type Start = (url: URL, options: RequestOptions, done: (reply: IncomingMessage) => void) => ClientRequest;

/** Bytes of an answer. */
const LARGEST_ANSWER = 512 * 1024 * 1024;

async function readPem(file: string, flag: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Failure(`Error reading the file of -${flag}: ${(error as Error).message}`);
  }
}

async function tlsOptions(connection: Connection): Promise<RequestOptions & Record<string, unknown>> {
  const options: RequestOptions & Record<string, unknown> = {};
  if (connection.caCert !== undefined) options['ca'] = await readPem(connection.caCert, 'ca-cert');
  else if (connection.caPath !== undefined) {
    const { readdir } = await import('node:fs/promises');
    const folder = connection.caPath;
    const names = await readdir(folder).catch((error: Error) => {
      throw new Failure(`Error reading the folder of -ca-path: ${error.message}`);
    });
    options['ca'] = await Promise.all(names.map((name) => readPem(`${folder}/${name}`, 'ca-path')));
  }
  if ((connection.clientCert === undefined) !== (connection.clientKey === undefined)) {
    throw new Failure('-client-cert and -client-key go together: one of them is missing');
  }
  if (connection.clientCert !== undefined) options['cert'] = await readPem(connection.clientCert, 'client-cert');
  if (connection.clientKey !== undefined) options['key'] = await readPem(connection.clientKey, 'client-key');
  if (connection.tlsServerName !== undefined) options['servername'] = connection.tlsServerName;
  if (connection.skipVerify) options['rejectUnauthorized'] = false;
  return options;
}

function explain(error: NodeJS.ErrnoException, request: WireRequest): Failure {
  const verb = request.method[0] + request.method.slice(1).toLowerCase();
  const url = new URL(request.url);
  let text = error.message !== '' ? error.message : (error.code ?? 'connection failed');
  let hint = '';
  if (url.protocol === 'https:' && (error.code === 'EPROTO' || /wrong version number|packet length too long/i.test(text))) {
    text = 'http: server gave HTTP response to HTTPS client';
    hint = `\n\nThe server speaks plain HTTP: try -address=http://${url.host}, or set STRONGROOM_ADDR=http://${url.host}.`;
  } else if (url.protocol === 'http:' && (error.code === 'ECONNRESET' || error.code?.startsWith('HPE_') === true)) {
    hint = `\n\nIf the server speaks TLS, try -address=https://${url.host}, or set STRONGROOM_ADDR=https://${url.host}.`;
  } else if (error.code === 'ECONNREFUSED') {
    text = `dial tcp ${url.host}: connect: connection refused`;
  } else if (error.code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO_/.test(error.code)) {
    text = `tls: failed to verify certificate: ${text}`;
    hint = '\n\nGive the certificate that signed it with -ca-cert (STRONGROOM_CACERT).';
  }
  return new Failure(`${verb} "${request.url}": ${text}${hint}`, EXIT.remote);
}

/** A transport on Node's own HTTP client: it costs no start-up time, and the commands make a handful of calls each. */
export async function openTransport(connection: Connection): Promise<Transport> {
  const unix = connection.address.startsWith('unix://') ? connection.address.slice('unix://'.length) : undefined;
  const sockets = { keepAlive: true, maxSockets: connection.parallel ?? 4 };
  const plain = new Agent(sockets);
  let secure: { start: Start; agent: Agent; options: RequestOptions } | undefined;
  const openSecure = async () => {
    const https = await import('node:https');
    return {
      start: https.request as Start,
      agent: new https.Agent(sockets),
      options: await tlsOptions(connection),
    };
  };

  const prepared = async (
    request: WireRequest,
    length: number | undefined,
  ): Promise<{ url: URL; start: Start; options: RequestOptions }> => {
    const url = new URL(request.url);
    if (url.protocol === 'https:') secure ??= await openSecure();
    const start: Start = url.protocol === 'https:' && secure !== undefined ? secure.start : httpRequest;
    const options: RequestOptions = {
      ...(url.protocol === 'https:' ? secure?.options : {}),
      ...(unix === undefined ? {} : { socketPath: unix }),
      agent: url.protocol === 'https:' ? secure?.agent : plain,
      method: request.method,
      headers: { ...request.headers, ...(length === undefined ? {} : { 'content-length': String(length) }) },
    };
    return { url, start, options };
  };

  return {
    async stream(request, body) {
      const { url, start, options } = await prepared(request, body?.length);
      return await new Promise<StreamedReply>((resolve, reject) => {
        const outgoing = start(url, options, (reply) => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: reply }));
        const idle = (): void => void outgoing.destroy(new Error(`nothing came for ${connection.timeout}s`));
        outgoing.setTimeout(connection.timeout * 1000, idle);
        outgoing.on('error', (error) => reject(explain(error, request)));
        // The request, or its answer, says why it failed.
        if (body) pipeline(Readable.from(body.pieces), outgoing, () => undefined);
        else outgoing.end();
      });
    },
    async send(request) {
      const length = request.body === undefined ? undefined : Buffer.byteLength(request.body);
      const { url, start, options } = await prepared(request, length);
      const signal = AbortSignal.timeout(connection.timeout * 1000);
      return await new Promise<WireReply>((resolve, reject) => {
        const fail = (error: NodeJS.ErrnoException) => {
          if (error.name !== 'AbortError' && error.name !== 'TimeoutError') return reject(explain(error, request));
          reject(explain(new Error(`no answer within ${connection.timeout}s`), request));
        };
        const outgoing = start(url, { ...options, signal }, (reply) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          reply.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > LARGEST_ANSWER) outgoing.destroy(new Error(`the answer is larger than ${LARGEST_ANSWER} bytes`));
            else chunks.push(chunk);
          });
          reply.on('error', fail);
          reply.on('end', () =>
            resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text: Buffer.concat(chunks).toString('utf8') }),
          );
        });
        outgoing.on('error', fail);
        outgoing.end(request.body);
      });
    },
    close() {
      plain.destroy();
      secure?.agent.destroy();
    },
  };
}
