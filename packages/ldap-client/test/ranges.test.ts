import { afterEach, describe, expect, test } from '@jest/globals';
import { createDirectory } from '../src/index.ts';
import { ber, idOf, responseTag, result, startRawServer } from './raw-server.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const members = Array.from({ length: 25 }, (_, i) => `cn=member ${i}`);

/** A server that shows `member` as Active Directory does, ten values at a time, with an empty `member` beside the first piece. */
async function inPieces(values = members) {
  const asked: string[] = [];
  const server = await startRawServer((socket, chunk) => {
    const attribute = /member(;range=\d+-\*)?/i.exec(chunk.toString('latin1'))?.[0] ?? 'cn';
    asked.push(attribute);
    const start = Number(/=(\d+)/.exec(attribute)?.[1] ?? 0);
    const end = Math.min(start + 9, values.length - 1);
    const name = `member;range=${start}-${end === values.length - 1 ? '*' : end}`;
    const show = (variant: string, some: readonly string[]): Buffer =>
      ber(0x30, ber(4, variant), ber(0x31, ...some.map((value) => ber(4, value))));
    const attributes = [show('cn', ['big']), ...(start === 0 ? [show('member', [])] : []), show(name, values.slice(start, end + 1))];
    const entry = ber(0x30, ber(2, [idOf(chunk)]), ber(responseTag.entry, ber(4, 'cn=big'), ber(0x30, ...attributes)));
    socket.write(Buffer.concat([entry, result(idOf(chunk), responseTag.done, 0)]));
  });
  const directory = createDirectory({ urls: [server.url] });
  cleanups.push(
    () => server.stop(),
    () => directory.close(),
  );
  return { asked, connection: await directory.connect() };
}

describe('attributes that Active Directory shows in pieces (member;range=0-1499)', () => {
  test('come whole, in order, under their own name', async () => {
    const { asked, connection } = await inPieces();
    const [entry] = await connection.search({ base: 'cn=big', scope: 'base', attributes: ['cn', 'member'] });
    expect(entry!.values('member')).toEqual(members);
    expect([...entry!.attributes.keys()]).toEqual(['cn', 'member']);
    expect(asked).toEqual(['member', 'member;range=10-*', 'member;range=20-*']);
  });

  test('an attribute that fits into one piece needs no other request', async () => {
    const { asked, connection } = await inPieces(members.slice(0, 10));
    const [entry] = await connection.search({ base: 'cn=big', scope: 'base', attributes: ['member'] });
    expect(entry!.values('member')).toHaveLength(10);
    expect(asked).toHaveLength(1);
  });

  test('who asks for a piece gets that piece', async () => {
    const { asked, connection } = await inPieces();
    const [entry] = await connection.search({ base: 'cn=big', scope: 'base', attributes: ['member;range=10-*'] });
    expect(entry!.values('member;range=10-19')).toEqual(members.slice(10, 20));
    expect(asked).toEqual(['member;range=10-*']);
  });
});
