import { describe, expect, test } from '@jest/globals';
import { mergeConnection, secretMoves } from '../src/connection.ts';

describe('the address of a connection', () => {
  const sent = { connection_uri: 'http://rabbitmq.example.org:15672', username: 'root', password: 'root' };
  const stored = mergeConnection(undefined, sent, 'first');

  test.each(['/', '//', '?', '/?', '#', '/?#'])('is the same with %j behind it', (ending) => {
    const again = mergeConnection(stored, { connection_uri: `${sent.connection_uri}${ending}` }, 'second');
    expect(again.connection_uri).toBe(sent.connection_uri);
    expect(secretMoves(stored, again)).toEqual([]);
  });

  test.each(['?a', '/?a=b', '#a'])('has no %s', (ending) => {
    const write = () => mergeConnection(stored, { connection_uri: `${sent.connection_uri}${ending}` }, 'second');
    expect(write).toThrow('connection_uri must not contain a query or a fragment');
  });
});
