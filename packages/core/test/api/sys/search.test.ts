import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { API_VERSION, path, pageFields, type EnginePackage } from '@strongroom/engine-sdk';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';

interface Found {
  readonly hits: { readonly mount: string; readonly type: string; readonly list: string; readonly name: string }[];
  readonly complete: boolean;
  readonly stopped: string;
  readonly after: string;
  readonly left_out: { readonly path: string; readonly reason: string }[];
  readonly left_out_count: number;
}

/** An engine with one list, which does what the test says. */
function listEngine(list: (signal: AbortSignal, page: { after?: string | undefined }) => Promise<string[]>): EnginePackage {
  const names = path('things', { synopsis: 'Things.', description: 'Lists names.', fields: pageFields }).list({
    summary: 'Lists the things.',
    searched: true,
    handle: async ({ signal, data }) => ({ data: { keys: await list(signal, data) } }),
  });
  return { name: 'listed', kind: 'secret', apiVersion: API_VERSION, create: () => ({ paths: [names] }) };
}

let mount: TestMount;
let list: Parameters<typeof listEngine>[0];

beforeEach(async () => {
  list = async () => ['a-thing'];
  mount = await mountForTest(kvEngine, {
    path: 'secret',
    options: { version: '2' },
    plugins: [listEngine(async (...all) => list(...all))],
  });
  await mount.call('update', 'sys/mounts/plain', { data: { type: 'kv', options: { version: '1' } } });
  for (const name of ['shop/database', 'shop/eu/database', 'shop/eu/api', 'pay/Database', 'top', 'Ünï/x y']) {
    await mount.write(`data/${name}`, { data: { a: 1 } });
  }
  await mount.call('update', 'plain/database/main', { data: { a: 1 } });
});
afterEach(async () => mount.close());

const search = async (data: Record<string, unknown>, token = 'root'): Promise<Found> => {
  const answer = await mount.call('read', 'sys/internal/ui/search', { data, token });
  if (answer.errors) throw new Error(`${answer.status} ${answer.errors.join()}`);
  return answer.data as Found;
};
const names = ({ hits }: Found): string[] => hits.map((hit) => hit.mount + hit.list + hit.name);
const tokenWith = async (policy: string): Promise<string> => {
  await mount.call('update', 'sys/policies/acl/of-the-test', { data: { policy } });
  const made = await mount.call('update', 'auth/token/create', { data: { policies: ['of-the-test'] } });
  return made.auth!.client_token;
};

describe('a search', () => {
  test('finds secrets and folders of all mounts, in whatever case', async () => {
    const found = await search({ q: 'DATABASE' });
    expect(names(found)).toEqual([
      'plain/database/',
      'secret/metadata/pay/Database',
      'secret/metadata/shop/database',
      'secret/metadata/shop/eu/database',
    ]);
    expect(found.hits[1]).toEqual({ mount: 'secret/', type: 'kv', list: 'metadata/', name: 'pay/Database' });
    expect(found).toMatchObject({ complete: true, stopped: '', after: '', left_out: [], left_out_count: 0 });
  });

  test('finds entities and groups for those who may list them', async () => {
    await mount.call('update', 'identity/entity', { data: { name: 'Ada Lovelace' } });
    await mount.call('update', 'identity/group', { data: { name: 'lovelace team' } });
    expect(names(await search({ q: 'lovelace' }))).toEqual(['identity/entity/name/Ada Lovelace', 'identity/group/name/lovelace team']);
    const token = await tokenWith(
      'path "identity/group/name" { capabilities = ["list"] }\npath "sys/internal/ui/search" { capabilities = ["read"] }',
    );
    const found = await search({ q: 'lovelace' }, token);
    expect([names(found), found.left_out]).toEqual([['identity/group/name/lovelace team'], []]);
  });

  test('wants all words, one of them in the last part of the name', async () => {
    expect(names(await search({ q: 'shop eu' }))).toEqual(['secret/metadata/shop/eu/']);
    expect(names(await search({ q: 'eu data' }))).toEqual(['secret/metadata/shop/eu/database']);
    expect(names(await search({ q: 'eu/d' }))).toEqual(['secret/metadata/shop/eu/database']);
    expect(names(await search({ q: 'secret top' }))).toEqual(['secret/metadata/top']);
    expect(names(await search({ q: 'ÜNÏ x' }))).toEqual(['secret/metadata/Ünï/x y']);
    expect(names(await search({ q: 'nothing like it' }))).toEqual([]);
  });

  test('keeps to a mount, and to a folder of it', async () => {
    expect(names(await search({ q: 'database', mount: 'plain' }))).toEqual(['plain/database/']);
    expect(names(await search({ q: 'database', mount: 'secret/', folder: 'shop/eu' }))).toEqual(['secret/metadata/shop/eu/database']);
    expect(names(await search({ q: 'database', mount: 'secret/', folder: 'nowhere' }))).toEqual([]);
  });

  test('finds names of other lists that engines declare', async () => {
    expect(names(await search({ q: 'default' }))).toEqual(['sys/policies/acl/default']);
    await mount.call('update', 'sys/mounts/listed', { data: { type: 'listed' } });
    expect((await search({ q: 'thing' })).hits).toEqual([{ mount: 'listed/', type: 'listed', list: 'things/', name: 'a-thing' }]);
  });

  test('stops at its limit and continues where it stopped, with nothing twice and nothing lost', async () => {
    const all = names(await search({ q: 'a' }));
    const pages: string[] = [];
    let after = '';
    do {
      const found = await search({ q: 'a', limit: 1, after });
      pages.push(...names(found));
      expect(found.stopped).toBe(found.complete ? '' : 'limit');
      after = found.after;
    } while (after !== '');
    expect(pages).toEqual(all);
  });

  test.each([
    [{}, 'q'],
    [{ q: '  ' }, 'q must have a word'],
    [{ q: 'x'.repeat(257) }, 'q must not be longer'],
    [{ q: 'x', limit: 0 }, 'limit'],
    [{ q: 'x', limit: 1_001 }, 'limit'],
    [{ q: 'x', folder: 'a' }, 'folder needs mount'],
    [{ q: 'x', mount: 'nowhere' }, 'mount: the token reaches no mount at "nowhere"'],
  ])('%j is refused', async (data, text) => {
    await expect(search(data)).rejects.toThrow(new RegExp(`^Error: 400 .*${text}|^400 .*${text}`));
  });
});

describe('what a token may not list', () => {
  test('is not found, and the folder is said to be left out', async () => {
    const token = await tokenWith(
      'path "secret/*" { capabilities = ["read", "list"] } path "secret/metadata/shop/eu/*" { capabilities = ["deny"] }',
    );
    const found = await search({ q: 'database' }, token);
    expect(names(found)).toEqual(['secret/metadata/pay/Database', 'secret/metadata/shop/database']);
    expect(found.left_out).toEqual([{ path: 'secret/metadata/shop/eu/', reason: 'denied' }]);
    expect(found.complete).toBe(true);
  });

  test('hides nothing of the folders below that its policies name', async () => {
    const token = await tokenWith(
      'path "secret/metadata/shop/eu/*" { capabilities = ["list"] } path "plain/database*" { capabilities = ["list"] }',
    );
    const found = await search({ q: 'a' }, token);
    expect(names(found)).toEqual(['plain/database/main', 'secret/metadata/shop/eu/api', 'secret/metadata/shop/eu/database']);
    expect(found.left_out.map(({ path: at }) => at)).toEqual(['plain/', 'secret/metadata/']);
    const next = await search({ q: 'a', after: 'secret/metadata/shop/eu/api' }, token);
    expect(names(next)).toEqual(['secret/metadata/shop/eu/database']);
  });

  test('is never reached by a cursor', async () => {
    const token = await tokenWith('path "secret/metadata/shop/*" { capabilities = ["list"] }');
    expect(names(await search({ q: 'database', after: 'secret/metadata/pay/A' }, token))).toEqual([
      'secret/metadata/shop/database',
      'secret/metadata/shop/eu/database',
    ]);
    expect(names(await search({ q: 'main', after: 'plain/database/a' }, token))).toEqual([]);
  });

  test('is a mount that does not exist for it', async () => {
    const token = await tokenWith('path "secret/*" { capabilities = ["list"] }');
    await expect(search({ q: 'database', mount: 'plain' }, token)).rejects.toThrow('reaches no mount');
  });

  test('includes the search itself where no policy grants it', async () => {
    await mount.call('update', 'sys/policies/acl/default', { data: { policy: 'path "x" { capabilities = ["read"] }' } });
    const token = await tokenWith('path "secret/*" { capabilities = ["list"] }');
    await expect(search({ q: 'database' }, token)).rejects.toThrow('403');
  });

  test('counts the limit that a policy sets to a page', async () => {
    const token = await tokenWith('path "secret/metadata/*" { capabilities = ["list"] pagination_limit = 1 }');
    expect(names(await search({ q: 'database', mount: 'secret' }, token))).toHaveLength(3);
  });

  test('finds of a filtered list what the filter shows', async () => {
    const filter = 'list_scan_response_keys_filter_path = "{{ .path }}{{ .key }}"';
    const token = await tokenWith(
      `path "secret/metadata/*" { capabilities = ["list"] ${filter} } path "secret/metadata/shop/database" { capabilities = ["read"] }`,
    );
    const found = await search({ q: 'database', mount: 'secret' }, token);
    expect([names(found), found.left_out]).toEqual([['secret/metadata/shop/database'], []]);
  });
});

describe('a list that', () => {
  const mounted = async (handle: typeof list): Promise<void> => {
    list = handle;
    await mount.call('update', 'sys/mounts/listed', { data: { type: 'listed' } });
  };

  test('fails is left out, and the search continues', async () => {
    await mounted(async () => Promise.reject(new Error('broken')));
    const found = await search({ q: 'database' });
    expect(names(found)).toHaveLength(4);
    expect(found.left_out).toEqual([{ path: 'listed/things/', reason: 'failed' }]);
  });

  test('never ends is left out when the time is over; the search that continues does not meet it again', async () => {
    let asked = (): void => {};
    const began = new Promise<void>((resolve) => (asked = resolve));
    await mounted(async (signal) => {
      asked();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
    });
    const under = search({ q: 'database' });
    await began;
    await mount.clock.advance(2);
    const found = await under;
    expect(found).toMatchObject({ hits: [], complete: false, stopped: 'time', left_out: [{ path: 'listed/things/', reason: 'failed' }] });
    const next = await search({ q: 'database', after: found.after });
    expect([next.complete, names(next).length]).toEqual([true, 4]);
  });

  test('does not page is read once', async () => {
    const many = Array.from({ length: 1_200 }, (_, i) => `thing-${String(i).padStart(4, '0')}`);
    await mounted(async () => many);
    const found = await search({ q: 'thing-', limit: 1_000, mount: 'listed' });
    expect([found.hits.length, new Set(names(found)).size]).toEqual([1_000, 1_000]);
    const next = await search({ q: 'thing-', limit: 1_000, mount: 'listed', after: found.after });
    expect([next.hits.length, next.complete]).toEqual([200, true]);
  });

  test('is not asked any more when the caller has gone', async () => {
    const gone = new AbortController();
    let asked = 0;
    await mounted(async (_signal, { after = '' }) => {
      asked += 1;
      if (asked === 2) gone.abort(new Error('gone'));
      return Array.from({ length: 500 }, (_, i) => `${after}${String(i).padStart(3, '0')}`);
    });
    const answer = await mount.core.handle({
      operation: 'read',
      path: 'sys/internal/ui/search',
      token: 'root',
      data: { q: 'nothing' },
      signal: gone.signal,
    });
    expect(answer.status).toBe(504);
    expect(asked).toBe(2);
  });
});

test('other requests have their turn between two pages of a search', async () => {
  await mount.call('update', 'sys/mounts/listed', { data: { type: 'listed' } });
  let pages = 0;
  list = async (_signal, { after = '' }) => {
    pages += 1;
    return pages > 20 ? [] : Array.from({ length: 500 }, (_, i) => `${after}${String(i).padStart(3, '0')}`);
  };
  const seen = new Set<number>();
  let done = false;
  const watch = async (): Promise<void> => {
    while (!done) {
      seen.add(pages);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const watching = watch();
  await Promise.all([search({ q: 'nothing', mount: 'listed' }), search({ q: 'nothing', mount: 'listed' })]);
  done = true;
  await watching;
  // Every page, of whichever search, had a round of its own.
  expect(seen.size).toBeGreaterThan(20);
});

test('one token has at most four searches under way', async () => {
  await mount.call('update', 'sys/mounts/listed', { data: { type: 'listed' } });
  list = async (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
  const four = Array.from({ length: 4 }, async () => search({ q: 'x', mount: 'listed' }));
  const fifth = await mount.call('read', 'sys/internal/ui/search', { data: { q: 'x' } });
  expect([fifth.status, fifth.headers?.['Retry-After']]).toEqual([429, '1']);
  const other = await mount.call('update', 'auth/token/create', { data: { policies: ['root'] } });
  expect((await search({ q: 'database', mount: 'secret' }, other.auth!.client_token)).hits).toHaveLength(3);
  await mount.clock.advance(2);
  await Promise.all(four);
  expect((await search({ q: 'database', mount: 'secret' })).hits).toHaveLength(3);
});
