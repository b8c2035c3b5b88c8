import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Exchange } from './peer-door.ts';

/** Answers recorded calls in their order, as the recorded server did. */
export interface ReplayedServer {
  readonly address: string;
  /** What differed from the recording, with the call that it was. */
  readonly faults: string[];
  /** How many recorded calls nobody has made. */
  left(): number;
  stop(): void;
}

/** A call that is not the next one of the recording, in method, path, token, namespace or body, is answered with 599. */
export async function replayServer(recorded: readonly Exchange[]): Promise<ReplayedServer> {
  const waiting = [...recorded];
  const faults: string[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const header = (name: string): string | null => [request.headers[name]].flat()[0] ?? null;
    const asked = {
      ...{ method: request.method, path: request.url, token: header('x-vault-token'), namespace: header('x-vault-namespace') },
      body: text === '' ? null : (JSON.parse(text) as unknown),
    };
    const next = waiting.shift();
    const { method, path, token = null, namespace = null, body = null } = next ?? {};
    const isNext = next !== undefined && isDeepStrictEqual(asked, { method, path, token, namespace, body });
    const isJson = text === '' || request.headers['content-type'] === 'application/json';
    if (isNext && isJson) {
      response.writeHead(next.status, { 'content-type': 'application/json' });
      return void response.end(next.answer === undefined ? undefined : JSON.stringify(next.answer));
    }
    faults.push(`${asked.method} ${asked.path} ${text} in the place of ${method} ${path} ${JSON.stringify(body)}`);
    response.writeHead(599).end();
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    left: () => waiting.length,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
