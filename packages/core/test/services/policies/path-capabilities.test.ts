import { describe, expect, test } from '@jest/globals';
import { capabilityPaths } from '../../../src/api/sys/path-capabilities.ts';
import { call } from './call.ts';
import { aclOf } from './fixture.ts';

const acl = aclOf('path "wkv/data/app/*" { capabilities=["read","create"] }');
const find = (known: string) => (asked: string) => Promise.resolve(asked === known ? acl : undefined);
const paths = capabilityPaths({
  aclOfToken: find('t1'),
  aclOfAccessor: find('a1'),
  aclOfCaller: () => Promise.resolve(acl),
  canonical: (path) => ({ path }),
});

describe('capabilities', () => {
  test('of the caller, path by path', async () => {
    const { data } = await call(paths, 'update', 'capabilities-self', { paths: ['wkv/data/app/x', 'sys/mounts'] });
    expect(data).toEqual({ 'wkv/data/app/x': ['create', 'read'], 'sys/mounts': ['deny'] });
  });

  test.each([
    ['capabilities', { token: 't1' }],
    ['capabilities-accessor', { accessor: 'a1' }],
    ['capabilities-self', {}],
  ])('%s repeats the answer for a single path', async (path, body) => {
    const { data } = await call(paths, 'update', path, { ...body, path: 'wkv/data/app/x' });
    expect(data).toEqual({ 'wkv/data/app/x': ['create', 'read'], capabilities: ['create', 'read'] });
  });

  test('a path of any name is answered', async () => {
    const { data } = await call(paths, 'update', 'capabilities-self', { paths: ['__proto__', 'constructor'] });
    expect(Object.entries(data as object)).toEqual([
      ['__proto__', ['deny']],
      ['constructor', ['deny']],
    ]);
  });

  test.each([
    ['capabilities-self', {}, 'paths must be supplied'],
    ['capabilities', { token: 't1' }, 'paths must be supplied'],
    ['capabilities', { token: 'x', paths: 'a' }, '1 error occurred:\n\t* invalid token\n\n'],
    ['capabilities', { paths: 'a' }, '1 error occurred:\n\t* missing token\n\n'],
    ['capabilities-accessor', { accessor: 'x', paths: 'a' }, '1 error occurred:\n\t* invalid accessor\n\n'],
  ])('%s with %j is refused', async (path, body, message) => {
    expect(await call(paths, 'update', path, body)).toEqual({ status: 400, errors: [message] });
  });
});
