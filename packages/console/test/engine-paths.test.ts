import { describe, expect, test } from '@jest/globals';
import { findPath, itemOf, pathsOf, relatedTo } from '../web/api/engine-paths.ts';
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
