import { beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryView } from '@strongroom/engine-testkit';
import { pageHeaderPaths } from '../../../src/api/sys/path-page-headers.ts';
import { PageHeaders } from '../../../src/services/settings/page-headers.ts';
import { call, type Answer } from '../../services/identity/call.ts';

describe('sys/config/ui/headers', () => {
  let storage: MemoryView;
  let headers: PageHeaders;
  beforeEach(() => {
    storage = new MemoryView();
    headers = new PageHeaders(storage);
  });
  const ask = async (operation: Parameters<typeof call>[1], path: string, body?: Record<string, unknown>): Promise<Answer> =>
    call(pageHeaderPaths({ pageHeaders: headers }), operation, `config/ui/headers${path}`, body);

  test('keeps the values of a header, and shows the first or all', async () => {
    expect(await ask('update', '/x-own', { values: ['a', 'b'] })).toMatchObject({ status: 200 });
    expect(await ask('read', '/x-own')).toEqual({ status: 200, data: { value: 'a' } });
    expect(await ask('read', '/x-own', { multivalue: true })).toEqual({ status: 200, data: { values: ['a', 'b'] } });
    expect(await ask('list', '')).toEqual({ status: 200, data: { keys: ['X-Own'] } });
    expect([...headers.all]).toEqual([['X-Own', ['a', 'b']]]);
  });

  test('is the same for another server once it has loaded', async () => {
    await ask('update', '/x-own', { values: ['a'] });
    const other = new PageHeaders(storage);
    await other.load();
    expect([...other.all]).toEqual([['X-Own', ['a']]]);
  });

  test('removes a header, and one that is not there', async () => {
    await ask('update', '/x-own', { values: ['a'] });
    for (const name of ['x-own', 'x-own']) expect(await ask('delete', `/${name}`)).toMatchObject({ status: 204 });
    expect(await ask('list', '')).toMatchObject({ status: 404 });
    expect(await ask('read', '/x-own')).toMatchObject({ status: 404 });
  });

  test.each([
    ['x-own', {}, 'header and values must be specified'],
    ['x-vault-token', { values: ['a'] }, 'X-Vault headers cannot be set'],
    ['x-strongroom-request-id', { values: ['a'] }, 'X-Strongroom headers cannot be set'],
    [
      'content-LENGTH',
      { values: ['1'] },
      'header: Content-Length says how an answer is sent, so the server sets it; choose another header',
    ],
    ['te', { values: ['gzip'] }, 'header: Te says how an answer is sent, so the server sets it; choose another header'],
    ['x own', { values: ['a'] }, 'header "x own" is not a header name'],
    ['x-own', { values: ['a\r\nSet-Cookie: b'] }, 'values: "a\\r\\nSet-Cookie: b" is no value of a header'],
  ])('refuses %s with %j', async (name, body, text) => {
    expect(await ask('update', `/${name}`, body)).toEqual({ status: 400, data: null, errors: [text] });
  });
});
