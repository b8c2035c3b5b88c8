import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '../src/index.ts';

let mount: TestMount;
let token: string;
beforeEach(async () => {
  mount = await mountForTest(kvEngine, { options: { version: '2' } });
  for (const name of ['both', 'by-data', 'by-metadata', 'neither', 'sub/by-data', 'sub/neither', 'shut/by-data']) {
    await mount.write(`data/team/${name}`, { data: {} });
  }
  token = (await mount.call('update', 'auth/token/create', { data: { policies: ['p'] } })).auth!.client_token;
});
afterEach(async () => mount.close());

const policy = async (...blocks: string[]) => mount.call('update', 'sys/policies/acl/p', { data: { policy: blocks.join('\n') } });
const block = (path: string, capabilities: string[], more = '') =>
  `path "${path}" { capabilities = ${JSON.stringify(capabilities)}\n ${more} }`;
const filter = (template: string) => `list_scan_response_keys_filter_path = ${JSON.stringify(template)}`;
const OF_ITSELF = filter('{{ .path }}{{ .key }}');
const OF_DATA = filter('{{ .path | replace "kv/metadata/" "kv/data/" | replace "kv/detailed-metadata/" "kv/data/" }}{{ .key }}');
const READABLE = [block('kv/+/team/both', ['read']), block('kv/data/team/+/by-data', ['read']), block('kv/data/team/by-data', ['read'])];

const ask = async (operation: 'list' | 'scan', path: string, data: Record<string, unknown> = {}) =>
  mount.call(operation, path, { data, token });
const keys = async (operation: 'list' | 'scan', path = 'kv/metadata/team', data: Record<string, unknown> = {}) => {
  const answer = await ask(operation, path, data);
  return (answer.data as { keys?: string[] } | null)?.keys ?? answer.status;
};

describe('a list that a policy filters', () => {
  test('shows the keys whose path by the template the caller can read, and the folders that it can list', async () => {
    await policy(block('kv/metadata/*', ['list', 'scan'], OF_DATA), block('kv/data/team/sub', ['list']), ...READABLE);
    expect(await keys('list')).toEqual(['both', 'by-data', 'sub/']);
    expect(await keys('scan')).toEqual(['both', 'by-data', 'shut/by-data', 'sub/by-data']);
    expect(await keys('list', 'kv/metadata/team/sub/')).toEqual(['by-data']);

    await policy(block('kv/metadata/team', ['list', 'scan'], OF_ITSELF), block('kv/metadata/team/by-metadata', ['read']), ...READABLE);
    expect([await keys('list'), await keys('scan')]).toEqual([
      ['both', 'by-metadata'],
      ['both', 'by-metadata'],
    ]);
  });

  test('shows what belongs to the keys of these alone', async () => {
    await policy(block('kv/detailed-metadata/*', ['list'], OF_DATA), ...READABLE);
    const { data } = await ask('list', 'kv/detailed-metadata/team');
    expect(data).toEqual({
      keys: ['both', 'by-data'],
      key_info: { both: expect.anything() as unknown, 'by-data': expect.anything() as unknown },
    });
  });

  test('looks like an empty folder where no key is left', async () => {
    await policy(block('kv/metadata/*', ['list'], OF_ITSELF));
    expect(await ask('list', 'kv/metadata/team/sub')).toMatchObject({ status: 404, errors: [], data: null });
    expect((await ask('list', 'kv/metadata/nothing')).errors).toEqual([]);
  });

  test('has full pages, also of the size that the policy sets', async () => {
    const listed = (more = '') => policy(block('kv/metadata/*', ['list', 'scan'], `${OF_DATA}\n ${more}`), ...READABLE);
    await listed();
    expect(await keys('scan', undefined, { limit: 2 })).toEqual(['both', 'by-data']);
    expect(await keys('scan', undefined, { limit: 2, after: 'by-data' })).toEqual(['shut/by-data', 'sub/by-data']);
    expect(await keys('list', undefined, { limit: 1, after: 'by-data' })).toBe(404);
    await listed('pagination_limit = 3');
    expect(await keys('scan')).toEqual(['both', 'by-data', 'shut/by-data']);
  });

  test('keeps to the filter where another policy of the token lists the same path without one', async () => {
    await policy(block('kv/metadata/team', ['list'], OF_ITSELF), ...READABLE);
    await mount.call('update', 'sys/policies/acl/q', { data: { policy: block('kv/metadata/team', ['list']) } });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['p', 'q'] } });
    const { data } = await mount.call('list', 'kv/metadata/team', { token: auth!.client_token });
    expect(data).toEqual({ keys: ['both'] });
  });

  test.each([
    ['a rule denies the path of the key', [block('kv/data/team/*', ['read']), block('kv/data/team/+', ['deny'])]],
    ['reading takes parameters', [block('kv/data/team/*', ['read'], 'required_parameters = ["version"]')]],
    ['reading takes a wrapped answer', [block('kv/data/team/*', ['read'], 'max_wrapping_ttl = "1m"')]],
    ['the caller may do anything but read', [block('kv/data/team/*', ['create', 'update', 'patch', 'delete', 'scan', 'sudo'])]],
  ])('hides a key where %s', async (_why, blocks) => {
    await policy(block('kv/metadata/*', ['list'], OF_DATA), ...blocks);
    expect(await keys('list')).toBe(404);
  });

  test.each(['{{ .path }}../{{ .key }}', '/{{ .path }}{{ .key }}', '{{ .path }}/{{ .key }}', '', '{{ slice .key 0 99 }}'])(
    'hides every key where the template makes no path: %j',
    async (template) => {
      await policy(
        block('kv/*', ['list', 'read']),
        block('kv/metadata/*', ['list', 'read'], filter(template === '' ? '{{ "" }}' : template)),
      );
      expect(await keys('list')).toBe(404);
    },
  );

  test('needs sudo for a key whose path needs it', async () => {
    const audited = (capabilities: string[]) => policy(block('kv/metadata/*', ['list'], filter('sys/audit')), block('sys/*', capabilities));
    await audited(['read', 'list']);
    expect(await keys('list', 'kv/metadata/team/sub')).toBe(404);
    await audited(['read', 'list', 'sudo']);
    expect(await keys('list', 'kv/metadata/team/sub')).toEqual(['by-data', 'neither']);
  });

  test('hides nothing from root', async () => {
    await policy(block('kv/metadata/*', ['list'], OF_ITSELF));
    expect((await mount.list('metadata/team')).data).toMatchObject({
      keys: ['both', 'by-data', 'by-metadata', 'neither', 'shut/', 'sub/'],
    });
  });
});
