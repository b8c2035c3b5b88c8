import { describe, expect, test } from '@jest/globals';
import { findPath, itemOf, linkText, listOf, pathsOf, relatedTo, type EnginePath } from '../web/api/engine-paths.ts';
import type { ApiDocument } from '../web/api/openapi.ts';
import { fromUrl, toUrl } from '../web/api/names-in-urls.ts';
import { callOf, curlOf } from '../web/pages/api/written-call.ts';

const listed = { get: { parameters: [{ name: 'list', in: 'query' }] } };
const paths = pathsOf(
  {
    paths: { '/db/roles': listed, '/db/roles/{name}': {}, '/db/roles/{name}/preview': {}, '/db/creds/{name}': {}, '/dbs/roles': {} },
  } as unknown as ApiDocument,
  'db',
);

describe('declared paths', () => {
  test('are those of the mount alone', () => {
    expect(paths.map(({ template }) => template)).toEqual(['roles', 'roles/{name}', 'roles/{name}/preview', 'creds/{name}']);
  });

  test.each([
    ['roles', 'roles', {}],
    ['roles/a/b', 'roles/{name}', { name: 'a/b' }],
    ['roles/a/preview', 'roles/{name}/preview', { name: 'a' }],
    ['roles/__proto__', 'roles/{name}', { name: '__proto__' }],
  ])('of %p is %p', (address, template, captures) => {
    const found = findPath(paths, address);
    expect({ template: found?.template, captures: found?.captures }).toEqual({ template, captures });
  });

  test('of an address that nothing declares is none', () => {
    expect(findPath(paths, 'config')).toBeUndefined();
  });

  test('of one thing name what else can be done with it', () => {
    const thing = itemOf(paths, 'roles')!;
    expect(relatedTo(paths, thing).map(({ template }) => template)).toEqual(['roles/{name}/preview', 'creds/{name}']);
  });
});

describe('paths that take a name', () => {
  const named = (description: string, more: object = {}) => ({ parameters: [{ name: 'name', description }], ...more });
  const ofBroker = pathsOf(
    {
      paths: {
        '/mq/roles': listed,
        '/mq/roles/{name}': named('Name of the role.'),
        '/mq/creds/{name}': named('Name of the role.'),
        '/mq/static-roles': listed,
        '/mq/static-roles/{name}': named('Name of the static role.'),
        '/mq/static-creds/{name}': named('Name of the static role.'),
        '/mq/reset/{name}': named('Name of whatever it is.'),
        '/mq/config/connection': {},
        '/mq/config/test': {},
      },
    } as unknown as ApiDocument,
    'mq',
  );
  const related = (template: string): string[] =>
    relatedTo(
      ofBroker,
      ofBroker.find((path) => path.template === template)!,
    ).map((path) => path.template);

  test('belong to the list whose name they take, and to all where they do not say it', () => {
    expect(related('roles/{name}')).toEqual(['creds/{name}', 'reset/{name}']);
    expect(related('static-roles/{name}')).toEqual(['static-creds/{name}', 'reset/{name}']);
    expect(listOf(ofBroker, findPath(ofBroker, 'static-creds/report')!)?.template).toBe('static-roles');
  });

  test('and paths that take none lead to those beside them', () => {
    expect(related('config/connection')).toEqual(['config/test']);
  });

  test('are called after what is done there, where that is one thing', () => {
    const called = (item: object): string => linkText({ template: 'codes/{name}', item } as EnginePath);
    expect(called({ description: 'Codes of a key.', get: { summary: 'Makes a code.' } })).toBe('Makes a code');
    expect(called({ description: 'Codes of a key.', get: { summary: 'Makes a code.' }, post: { summary: 'Checks a code.' } })).toBe(
      'Codes of a key',
    );
    expect(called({ description: 'Quarantines a key.', delete: { summary: 'Begins it.' } })).toBe('Quarantines a key');
  });
});

describe('a written call', () => {
  test('has what was typed in the query of a read and in the body of a write', () => {
    expect(callOf('get', { names: ['a', 'b'], deep: true })).toEqual({ method: 'GET', query: { names: 'a,b', deep: 'true' } });
    expect(callOf('post', { deep: true })).toEqual({ method: 'POST', body: { deep: true } });
    expect(callOf('delete', { purge: 1 })).toEqual({ method: 'DELETE', query: { purge: '1' } });
  });

  test('is no text that a shell would run', () => {
    const word = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
    expect(curlOf('https://a', 'post', `secret/a'b $(id)`, word)).toBe(
      `curl -H "X-Vault-Token: $STRONGROOM_TOKEN" -X POST -H 'Content-Type: application/json' -d @body.json 'https://a/v1/secret/a'\\''b%20%24(id)'`,
    );
  });
});

test.each(['　wide　', ' thin ', '\ufeffmark', '~u3000', '~7e'])(
  'white space of any width stands in addresses and comes back: %p',
  (name) => {
    expect(fromUrl(toUrl(name))).toBe(name);
  },
);
