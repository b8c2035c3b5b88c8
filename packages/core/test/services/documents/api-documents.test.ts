import { describe, expect, test } from '@jest/globals';
import { f, NoContent, path } from '@strongroom/engine-sdk';
import { ApiDocuments } from '../../../src/services/documents/api-documents.ts';
import { openApiOf, openApiText, type Place } from '../../../src/services/documents/openapi.ts';

const about = { synopsis: 'A thing.', description: 'A thing.' };
const handle = async (): Promise<undefined> => undefined;
const declared = (pattern: string, summary: string): Place['paths'][number] =>
  path(pattern, { ...about, fields: { name: f.name('Name.'), size: f.int('Size.') } }).read({ summary, response: NoContent, handle });
const paths = [declared('b/{name}', 'B.'), declared('a/{name}', 'A.')];
const places = (count: number): Place[] => Array.from({ length: count }, (_, at) => ({ prefix: `mount-${at}/`, paths }));

describe('an OpenAPI document that is made in pieces', () => {
  test('is the one that is made at once', () => {
    const odd = ['b/', 'a/', 'a-b/', 'a/c/', 'a b/', 'é/'].map((prefix) => ({ prefix, paths }));
    expect([...openApiText(odd)].join('')).toBe(JSON.stringify(openApiOf(odd)));
    expect([...openApiText([])].join('')).toBe(JSON.stringify(openApiOf([])));
  });

  test('has its paths in order, also of a mount below another one', () => {
    const nested = [
      { prefix: 'a/', paths: [declared('z', 'Z.'), declared('b', 'B.')] },
      { prefix: 'a/m/', paths: [declared('{name}', 'M.')] },
      { prefix: 'a-/', paths: [declared('x', 'X.')] },
    ];
    expect(Object.keys(openApiOf(nested)['paths'] as object)).toEqual(['/a-/x', '/a/b', '/a/m/{name}', '/a/z']);
  });

  test('leaves turns of the event loop to others', async () => {
    let turns = 0;
    let making = true;
    const other = (): void => {
      turns += 1;
      if (making) setImmediate(other);
    };
    setImmediate(other);
    const document = await new ApiDocuments().of(places(1_000));
    making = false;
    expect(turns).toBeGreaterThan(10);
    expect((await document.plain()).byteLength).toBeGreaterThan(1_000_000);
  });
});

describe('documents that were made', () => {
  test('are kept by what they take compressed; the one that nobody asked for longest goes first', async () => {
    const bytes = async (count: number): Promise<number> => (await new ApiDocuments().of(places(count))).gzip.byteLength;
    const documents = new ApiDocuments((await bytes(1)) + (await bytes(2)) + 500);
    const [one, two] = [await documents.of(places(1)), await documents.of(places(2))];
    expect([await documents.of(places(2)), await documents.of(places(1))]).toEqual([two, one]);
    await documents.of(places(3));
    expect(await documents.of(places(2))).not.toBe(two);
  });

  test('are made once for those who ask at the same time', async () => {
    const documents = new ApiDocuments();
    const [one, other] = await Promise.all([documents.of(places(5)), documents.of(places(5))]);
    expect(one).toBe(other);
  });

  test('of which one alone is larger than all that is kept are made again', async () => {
    const documents = new ApiDocuments(100);
    const one = await documents.of(places(2));
    const again = await documents.of(places(2));
    expect(again).not.toBe(one);
    expect(again.etag).toBe(one.etag);
  });
});
