import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { f, path, type EnginePackage } from '@strongroom/engine-sdk';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';

const name = f.lowercase('Its name.', { required: true });
const about = { synopsis: 'Things.', description: 'Things.' };
const shows = (what: string) => ({
  summary: 'Shows which path answers.',
  handle: async ({ data, verbatim }: { data: { name: string }; verbatim: Readonly<Record<string, string>> }) => ({
    data: { what, name: data.name, sent: verbatim['name'] },
  }),
});

const things: EnginePackage = {
  name: 'things',
  kind: 'secret',
  apiVersion: 2,
  create: () => ({
    paths: [
      path('things/{name:path}', { ...about, fields: { name } }).read(shows('thing')),
      path('things/{name:path}/state', { ...about, fields: { name } }).read(shows('state')),
      path('things/all/{name:path}/state', { ...about, fields: { name } }).read(shows('state of all')),
    ],
  }),
};

describe('a capture {name:path}', () => {
  let mount: TestMount;
  beforeAll(async () => {
    mount = await mountForTest(things, { path: 'shop' });
  });
  afterAll(async () => mount.close());

  const read = async (at: string): Promise<unknown> => {
    const { status, data } = await mount.call('read', `shop/${at}`);
    return status === 200 ? data : status;
  };

  test.each([
    ['things/a', { what: 'thing', name: 'a', sent: 'a' }],
    ['things/a/b/c', { what: 'thing', name: 'a/b/c', sent: 'a/b/c' }],
    ['things/a/state', { what: 'state', name: 'a', sent: 'a' }],
    ['things/a/b/state', { what: 'state', name: 'a/b', sent: 'a/b' }],
    ['things/a/state/state', { what: 'state', name: 'a/state', sent: 'a/state' }],
    ['things/a/state/b', { what: 'thing', name: 'a/state/b', sent: 'a/state/b' }],
    ['things/state', { what: 'thing', name: 'state', sent: 'state' }],
    ['things/all/a/b/state', { what: 'state of all', name: 'a/b', sent: 'a/b' }],
    ['things/all/state', { what: 'state', name: 'all', sent: 'all' }],
    ['things/all/a', { what: 'thing', name: 'all/a', sent: 'all/a' }],
  ])('%s leads to the path whose own words end it, with as short a name as that leaves', async (at, expected) => {
    expect(await read(at)).toEqual(expected);
  });

  test('is folded segment by segment, and a policy sees the folded path', async () => {
    expect(await read('things/Org/Team/state')).toEqual({ what: 'state', name: 'org/team', sent: 'Org/Team' });
    const policy = 'path "shop/things/org/*" { capabilities = ["read"] }';
    await mount.call('update', 'sys/policies/acl/org', { data: { policy } });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['org'] } });
    const token = auth!.client_token;
    const statusOf = async (at: string): Promise<number> => (await mount.call('read', `shop/${at}`, { token })).status;
    expect([await statusOf('things/ORG/a'), await statusOf('things/Other/a')]).toEqual([200, 403]);
  });

  test.each(['things/a/-b', 'things/a/b%2Fc', 'things/.a/b', 'things/a b/c'])('%s is no such name', async (at) => {
    expect(await read(at)).toBe(404);
  });
});
