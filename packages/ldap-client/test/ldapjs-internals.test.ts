import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { createClient, shut } from '../src/ldapjs-library.ts';
import { startRawServer } from './raw-server.ts';

/**
 * The client drives ldapjs below its documented calls: its queue and its own reading lose answers. ldapjs is not developed any more, so
 * this fails only when somebody replaces it or its version. Then look for the same parts in what came instead, adapt
 * `src/ldapjs-library.ts`, which names them all, and run this package's tests and those of auth-ldap and ldap-secrets.
 */
test('ldapjs has the socket, the sender and the parser that the client drives: adapt ldapjs-library.ts if it has changed', async () => {
  const server = await startRawServer(() => undefined);
  const client = createClient({ url: server.url, log: undefined });
  client.on('error', () => undefined);
  await once(client, 'connect');
  const parser = client._tracker?.parser;
  expect({
    send: typeof client._send,
    socket: typeof client._socket?.write,
    parser: typeof parser?.write,
    messages: parser?.listenerCount('message'),
    incomplete: parser !== undefined && 'buffer' in parser,
    urls: client.urls.map(({ href }) => href),
  }).toEqual({ send: 'function', socket: 'function', parser: 'function', messages: 1, incomplete: true, urls: [server.url] });
  parser!.write(Buffer.from([0x30, 0x05, 0x02]));
  expect(parser!.buffer?.length).toBe(3);
  shut(client, new AbortController());
  await server.stop();
});
