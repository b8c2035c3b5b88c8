import { describe, expect, test } from '@jest/globals';
import { f, ListedKeys, NoContent, path, rawAnswer, Refusal, streamedAnswer, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { openApiOf } from '../../../src/services/documents/openapi.ts';

interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly requestBody?: { readonly required?: boolean; readonly content: object };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Record<string, { schema: unknown }> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

const documentOf = (paths: readonly AnyPath[], prefix = 'door/'): Document => openApiOf([{ prefix, paths }]) as unknown as Document;
const about = { synopsis: 'A thing.', description: 'A thing.' };
const handle = async (): Promise<undefined> => undefined;
const statusesOf = ({ responses }: Operation): string => Object.keys(responses).sort().join(' ');

describe('the statuses of an operation follow from its declaration', () => {
  const one = path('things/{name}', { ...about, fields: { name: f.name('Name.'), size: f.int('Size.') } })
    .read({ summary: 'Reads.', response: Type.Object({ size: Type.Integer() }), handle })
    .update({ summary: 'Writes.', response: NoContent, answers: { 202: NoContent, 409: Refusal }, handle })
    .delete({ summary: 'Deletes.', response: NoContent, untimed: true, handle });

  test('of an engine', () => {
    const item = documentOf([one]).paths['/door/things/{name}']!;
    expect(statusesOf(item['get']!)).toBe('200 400 403 404 405 429 500 502 503 504 507');
    expect(statusesOf(item['post']!)).toBe('200 202 204 400 403 404 408 409 413 415 429 500 502 503 504 507');
    expect(statusesOf(item['delete']!)).toBe('200 204 400 403 404 429 500 502 503 507');
    expect(item['post']!.responses['409']).toEqual({ $ref: '#/components/responses/Conflict' });
  });

  test('of the server itself, which calls nothing that limits it', () => {
    expect(statusesOf(documentOf([one], 'sys/').paths['/sys/things/{name}']!['get']!)).not.toContain('502');
  });

  test('of a path that is open to all, which asks for no token and stores nothing for a read', () => {
    const open = path('state', { ...about, access: 'unauthenticated', fields: {} }).read({
      summary: 'Reads.',
      response: NoContent,
      handle,
    });
    const { get } = documentOf([open], 'sys/').paths['/sys/state']!;
    expect(get!.security).toEqual([]);
    expect(statusesOf(get!)).not.toContain('507');
  });
});

describe('the answers of an operation', () => {
  test('are those of a read and of a list where one verb asks for either, and each may be wrapped', () => {
    const both = path('things', { ...about, fields: {} })
      .read({ summary: 'Reads.', response: Type.Object({ size: Type.Integer() }), handle })
      .list({ summary: 'Lists.', response: ListedKeys, handle });
    const text = JSON.stringify(documentOf([both]).paths['/door/things']!['get']!.responses['200']);
    for (const part of ['"size"', '#/components/schemas/Keys', '#/components/schemas/Wrapped']) expect(text).toContain(part);
  });

  test('have the media types that are declared; what is sent as it comes about is never wrapped', () => {
    const raw = path('raw', { ...about, fields: {} })
      .read({ summary: 'Reads.', response: streamedAnswer('application/gzip'), handle })
      .update({ summary: 'Writes.', bodyType: 'application/gzip', response: rawAnswer('text/plain'), handle });
    const { get, post } = documentOf([raw]).paths['/door/raw']!;
    expect(get!.responses['200']!.content).toEqual({ 'application/gzip': { schema: { type: 'string', format: 'binary' } } });
    expect(Object.keys(post!.responses['200']!.content!)).toEqual(['text/plain', 'application/json']);
    expect(post!.requestBody).toMatchObject({ required: true, content: { 'application/gzip': {} } });
  });
});

describe('names that somebody chose', () => {
  const paths = [path('{name}', { ...about, fields: { name: f.name('Name.') } }).read({ summary: 'Reads.', response: NoContent, handle })];

  test('are no parameters of a path', () => {
    expect(Object.keys(documentOf(paths, 'a{b}/{name} c?#%/é/').paths)).toEqual(['/a%7Bb%7D/%7Bname%7D%20c%3F%23%25/%C3%A9/{name}']);
  });

  test('give each operation an id of its own', () => {
    const places = ['a-b/', 'a/b/', 'a_b/', '__proto__/'].map((prefix) => ({ prefix, paths }));
    const document = openApiOf(places) as unknown as Document;
    const ids = Object.values(document.paths).map(({ get }) => get!.operationId);
    expect(ids.sort()).toEqual(['read-a-b-name', 'read-a-b-name-2', 'read-a-b-name-3', 'read-proto-name']);
  });

  test('of schemas may be those of another engine, or of the server: each keeps its own shape', () => {
    const declared = ['Auth', 'Role', 'Role', 'constructor'].map((title, at) =>
      path(`p${at}`, { ...about, fields: {} }).read({
        summary: 'Reads.',
        response: Type.Object({ [`f${at}`]: Type.String() }, { title }),
        handle,
      }),
    );
    const { schemas } = documentOf(declared).components;
    expect(schemas).toMatchObject({
      Auth2: { properties: { f0: {} } },
      Role: { properties: { f1: {} } },
      Role2: { properties: { f2: {} } },
    });
    expect(schemas['Auth']).toHaveProperty('properties.client_token');
  });
});

test('keywords that OpenAPI 3.0 does not have are left out or written as it has them', () => {
  const odd = Type.Object({
    none: Type.Null(),
    above: Type.Number({ exclusiveMinimum: 1 }),
    either: Type.Union([Type.String(), Type.Null()]),
    ours: Type.String({ secret: true, safe: true }),
    picture: Type.String({ contentEncoding: 'base64', contentMediaType: 'image/png' }),
  });
  const text = JSON.stringify(
    documentOf([path('odd', { ...about, fields: {} }).read({ summary: 'Reads.', response: odd, handle })]).paths['/door/odd']!['get']!
      .responses['200'],
  );
  expect(text).toContain('"none":{"nullable":true,"enum":[null]}');
  expect(text).toContain('"above":{"type":"number","minimum":1,"exclusiveMinimum":true}');
  expect(text).toContain('"either":{"type":"string","nullable":true}');
  expect(text).toContain('"picture":{"type":"string","format":"byte","x-vault-displayAttrs":{"mediaType":"image/png"}}');
  expect(text).not.toContain('"safe"');
});
