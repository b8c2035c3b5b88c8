import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';

interface Parser {
  readonly initialize?: unknown;
  readonly execute?: unknown;
  readonly constructor: { readonly REQUEST?: unknown; readonly kOnExecute?: number };
  readonly [callback: number]: unknown;
}

/**
 * LIST and SCAN need parts of node's HTTP parser that node does not document; without them these verbs are answered 405, and clients that
 * list fail. When this fails on a new version of node: read `lib/_http_server.js` and `src/node_http_parser.cc` of that version, adapt
 * `src/list-verb.ts`, and until it is released say in `engines` that this version is not supported.
 */
test('node has what LIST and SCAN need of its HTTP parser: adapt list-verb.ts if it has changed', async () => {
  const server = createServer();
  const connected = once(server, 'connection') as Promise<[Socket & { readonly parser?: Parser }]>;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [{ parser }] = await connected;
  const fault = once(server, 'clientError') as Promise<[{ code?: string; rawPacket?: Buffer; bytesParsed?: number }]>;
  client.write('LIST /v1/a HTTP/1.1\r\n\r\n');
  const [{ code, rawPacket, bytesParsed }] = await fault;
  expect({
    initialize: typeof parser?.initialize,
    execute: typeof parser?.execute,
    REQUEST: typeof parser?.constructor.REQUEST,
    onExecute: typeof parser?.[parser.constructor.kOnExecute ?? -1],
    connections: Object.getOwnPropertySymbols(server).filter(({ description }) => description === 'http.server.connections').length,
    // It refuses the verb at the third letter, where LINK and LIST part, and keeps the bytes.
    refused: { code, bytesParsed, packet: rawPacket?.toString('latin1', 0, 4) },
  }).toEqual({
    initialize: 'function',
    execute: 'function',
    REQUEST: 'number',
    onExecute: 'function',
    connections: 1,
    refused: { code: 'HPE_INVALID_METHOD', bytesParsed: 2, packet: 'LIST' },
  });
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});
