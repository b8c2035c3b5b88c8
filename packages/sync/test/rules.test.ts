import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checked, syncMount, type Association, type Data, type SyncMount } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';
const SET = `${ONE}/associations/set`;
const REMOVE = `${ONE}/associations/remove`;

describe('a rule', () => {
  let sync: SyncMount;
  beforeEach(async () => {
    sync = await syncMount();
    await sync.put('team/a', { k: '1' });
    await sync.put('team/deep/b', { k: '2' });
    await sync.put('other/c', { k: '3' });
  });
  afterEach(async () => sync.close());

  const outside = async (): Promise<Record<string, string>> => {
    await sync.advance('1s');
    return sync.provider.values();
  };
  const names = async () => Object.keys(await outside()).sort();
  const rulesOf = async (): Promise<Data[]> =>
    ((await checked(sync.ask('read', `${ONE}/associations`))).data as { rules?: Data[] }).rules ?? [];
  const refused = async (path: string, data: Data, token?: string) => {
    const { status, errors = [] } = await sync.ask('update', path, { mount: 'kv', ...data }, token);
    return `${status}: ${errors.join('; ')}`;
  };

  test('links every secret of a folder, and answers with how each copy stands', async () => {
    const entries = await sync.set('team/*');
    expect(entries.map(({ secret_name, sync_status }) => `${secret_name} ${sync_status}`).sort()).toEqual([
      'team/a SYNCED',
      'team/deep/b SYNCED',
    ]);
    expect(entries.map((entry) => (entry as Association & { rule?: string }).rule)).toEqual(['team/*', 'team/*']);
    expect(await outside()).toEqual({ 'app/team/a': '{"k":"1"}', 'app/team/deep/b': '{"k":"2"}' });
  });

  test('links a whole mount', async () => {
    await sync.set('*');
    expect(await names()).toEqual(['app/other/c', 'app/team/a', 'app/team/deep/b']);
  });

  test('follows secrets as they come, change and go', async () => {
    await sync.set('team/*');
    await sync.put('team/new', { k: 'n' });
    await sync.put('team/a', { k: 'changed' });
    await sync.ask('delete', 'kv/metadata/team/deep/b');
    expect(await outside()).toEqual({ 'app/team/a': '{"k":"changed"}', 'app/team/new': '{"k":"n"}' });
    expect((await sync.associations()).map(({ secret_name }) => secret_name).sort()).toEqual(['team/a', 'team/new']);
    await sync.put('team/deep/b', { k: 'back' });
    expect((await outside())['app/team/deep/b']).toBe('{"k":"back"}');
  });

  test('takes a deleted version away, and brings an undeleted one back', async () => {
    await sync.set('team/*');
    await sync.ask('delete', 'kv/data/team/a');
    expect(await names()).toEqual(['app/team/deep/b']);
    await sync.ask('update', 'kv/undelete/team/a', { versions: [1] });
    expect(await names()).toEqual(['app/team/a', 'app/team/deep/b']);
  });

  test('leaves out what it excludes: secrets, and folders', async () => {
    await sync.put('team/z', { k: '1' });
    await sync.set('team/*', { exclude: ['team/deep/*', 'team/z'] });
    await sync.put('team/deep/c', { k: '1' });
    expect(await names()).toEqual(['app/team/a']);
  });

  test('that is set again with other exclusions takes back what it leaves out now', async () => {
    await sync.set('team/*');
    await sync.set('team/*', { exclude: 'team/deep/*' });
    expect(await names()).toEqual(['app/team/a']);
    await sync.set('team/*', { exclude: [] });
    expect(await names()).toEqual(['app/team/a', 'app/team/deep/b']);
    expect(await rulesOf()).toHaveLength(1);
  });

  test('that is removed takes away what it alone brought', async () => {
    await sync.set('team/a');
    await sync.set('team/*');
    await sync.set('*');
    await sync.remove('*');
    expect(await names()).toEqual(['app/team/a', 'app/team/deep/b']);
    await sync.remove('team/*');
    expect(await names()).toEqual(['app/team/a']);
    expect(await rulesOf()).toEqual([]);
    await sync.remove('team/a');
    expect(await names()).toEqual([]);
  });

  test('keeps a link that a caller asked for as well and takes back', async () => {
    await sync.set('team/*');
    await sync.set('team/a');
    await sync.remove('team/a');
    expect(await names()).toEqual(['app/team/a', 'app/team/deep/b']);
  });

  test('is named where a caller removes a link that it alone made', async () => {
    await sync.set('team/*');
    expect(await refused(REMOVE, { secret_name: 'team/a' })).toBe(
      '400: secret_name: "team/a" is linked by the rule "team/*": exclude it there, or remove the rule',
    );
  });

  test('is told apart from a link that a caller asked for as well', async () => {
    await sync.set('team/*');
    await sync.set('team/a');
    const alone = async (): Promise<Record<string, boolean | undefined>> =>
      Object.fromEntries((await sync.associations()).map(({ secret_name, by_rule_alone }) => [secret_name, by_rule_alone]));
    expect(await alone()).toEqual({ 'team/a': false, 'team/deep/b': true });
    await sync.remove('team/a');
    expect(await alone()).toEqual({ 'team/a': true, 'team/deep/b': true });
  });

  test('links at most as many secrets as it may, and shows how many are left', async () => {
    await sync.set('team/*', { max_secrets: 2 });
    await sync.put('team/x', { k: '1' });
    await sync.put('team/y', { k: '1' });
    expect(await names()).toEqual(['app/team/a', 'app/team/deep/b']);
    await checked(sync.ask('update', `${ONE}/reconcile`, {}));
    await sync.advance('1s');
    expect(await rulesOf()).toMatchObject([{ secret_name: 'team/*', max_secrets: 2, linked: 2, beyond_max: 2 }]);
    await sync.ask('delete', 'kv/metadata/team/a');
    await sync.advance('1s');
    await checked(sync.ask('update', `${ONE}/reconcile`, {}));
    expect(await names()).toEqual(['app/team/deep/b', 'app/team/x']);
  });

  test('shows with dry_run what it would link and how it would be named, and stores nothing', async () => {
    const { data } = await checked(
      sync.ask('update', SET, { mount: 'kv', secret_name: '*', exclude: 'other/*', max_secrets: 1, dry_run: true }),
    );
    expect(data).toMatchObject({
      would_link: [{ secret_name: 'team/a', remote_names: ['app/team/a'] }],
      total: 1,
      rule: { mount: 'kv', secret_name: '*', exclude: ['other/*'], max_secrets: 1, linked: 1, beyond_max: 1 },
    });
    expect(await names()).toEqual([]);
    expect(await rulesOf()).toEqual([]);
  });

  test('shows the second of two secrets that get one name outside as failed, and the first one stays', async () => {
    await sync.ask('patch', ONE, { secret_name_template: '{{ .SecretPath | lowercase }}' });
    await sync.put('team/A', { k: 'upper' });
    await sync.set('team/*');
    const byName = new Map((await sync.associations()).map((one) => [one.secret_name, one]));
    expect(byName.get('team/A')?.sync_status).toBe('SYNCED');
    expect(byName.get('team/a')).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: { message: expect.stringContaining('is used by another association') },
    });
  });

  test('is shown in the lists', async () => {
    await sync.set('team/*', { exclude: 'team/z' });
    const rule = {
      mount: 'kv',
      secret_name: 'team/*',
      exclude: ['team/z'],
      max_secrets: 1000,
      made_by: 'root',
      store_type: 'memory',
      store_name: 'one',
    };
    expect(await rulesOf()).toMatchObject([rule]);
    expect((await checked(sync.ask('list', 'sys/sync/associations'))).data).toMatchObject({ total_associations: 2, rules: [rule] });
  });

  test('without any secret yet is shown, and holds up the deletion of its destination', async () => {
    await sync.set('nothing/*');
    expect((await checked(sync.ask('list', 'sys/sync/associations'))).data).toMatchObject({
      keys: [],
      rules: [{ secret_name: 'nothing/*' }],
    });
    const { status, errors } = await sync.ask('delete', ONE);
    expect([status, errors]).toEqual([400, [expect.stringContaining('still manages rules')]]);
    await sync.put('nothing/yet', { k: '1' });
    expect(await names()).toEqual(['app/nothing/yet']);
  });

  test('goes with its destination, and brings nothing back', async () => {
    await sync.set('team/*');
    await sync.ask('delete', ONE, { purge: true });
    await sync.put('team/late', { k: '1' });
    expect(await names()).toEqual([]);
    expect((await sync.ask('read', ONE)).status).toBe(404);
  });

  test('goes with its mount', async () => {
    await sync.set('team/*');
    await sync.ask('delete', 'sys/mounts/kv');
    expect(await names()).toEqual([]);
    expect(await rulesOf()).toEqual([]);
  });

  test('goes on where its mount is moved', async () => {
    await sync.set('team/*');
    await checked(sync.ask('update', 'sys/remount', { from: 'kv', to: 'moved' }));
    await sync.advance('1s');
    await checked(sync.ask('update', 'moved/data/team/new', { data: { k: '1' } }));
    expect(await names()).toContain('app/team/new');
    expect(await rulesOf()).toMatchObject([{ mount: 'moved' }]);
  });

  test.each([
    [{ secret_name: 'team/*', exclude: 'other/c' }, '400: exclude: "other/c" is no secret below "team/*"'],
    [{ secret_name: 'team/*', max_secrets: 0 }, '400: max_secrets must be between 1 and 100000'],
    [{ secret_name: 'team/*', mount: 'nowhere' }, '400: mount: no secrets engine is mounted at "nowhere"'],
    [{ secret_name: 'team/a', exclude: 'team/b' }, '400: exclude belongs to a rule: write secret_name as a folder such as team/*'],
    [{ secret_name: 'team*' }, '400: Secret not found'],
  ])('%j is refused', async (data, message) => {
    expect(await refused(SET, data)).toContain(message);
    expect(await rulesOf()).toEqual([]);
  });

  test('of another engine than kv 2 is refused', async () => {
    await sync.ask('update', 'sys/mounts/old', { type: 'kv', options: { version: '1' } });
    expect(await refused(SET, { mount: 'old', secret_name: '*' })).toBe(
      '400: "old/" offers no secrets to sync: only version-2 key-value mounts do',
    );
  });

  test('that does not exist is removed without an error', async () => {
    expect(await sync.remove('team/*')).toEqual([]);
  });
});

describe('the rights of a rule are those of its maker', () => {
  let sync: SyncMount;
  let token: string;
  beforeEach(async () => {
    sync = await syncMount();
    await sync.put('team/a', { k: '1' });
    await sync.put('team/hidden/b', { k: '2' });
    await policy('path "kv/data/team/*" { capabilities = ["read"] } path "kv/data/team/hidden/*" { capabilities = ["deny"] }');
    token = await tokenWith({ policies: ['syncer'], no_default_policy: true });
  });
  afterEach(async () => sync.close());

  async function tokenWith(data: Data, path = 'auth/token/create'): Promise<string> {
    const { auth } = (await checked(sync.ask('update', path, data))) as { auth?: { client_token: string } };
    return auth!.client_token;
  }

  async function policy(text: string): Promise<void> {
    await checked(sync.ask('update', 'sys/policies/acl/syncer', { policy: `path "sys/sync/*" { capabilities = ["update"] } ${text}` }));
  }
  const set = async (secret_name: string) => sync.ask('update', SET, { mount: 'kv', secret_name }, token);
  const names = async () => {
    await sync.advance('1s');
    return Object.keys(sync.provider.values()).sort();
  };

  test('who may not read the folder makes no rule', async () => {
    const { status, errors } = await set('*');
    expect([status, errors?.join()]).toEqual([403, expect.stringContaining('permission denied to read every secret below "" in mount kv')]);
  });

  test('what the maker may not read is not linked, and is counted', async () => {
    const { data } = await checked(set('team/*'));
    expect(await names()).toEqual(['app/team/a']);
    await sync.put('team/hidden/new', { k: '1' });
    expect(await names()).toEqual(['app/team/a']);
    expect(JSON.stringify(data)).not.toContain('hidden');
    const shown = (await checked(sync.ask('read', `${ONE}/associations`))).data;
    expect(shown).toMatchObject({ rules: [{ linked: 1, denied: 1 }] });
  });

  test('a right that the maker has lost links nothing new, and takes nothing back', async () => {
    await checked(set('team/*'));
    await policy('');
    await sync.put('team/new', { k: '1' });
    expect(await names()).toEqual(['app/team/a']);
    await policy('path "kv/data/team/*" { capabilities = ["read"] }');
    await checked(sync.ask('update', `${ONE}/reconcile`, {}));
    expect(await names()).toEqual(['app/team/a', 'app/team/hidden/b', 'app/team/new']);
  });

  test('the token of the maker may end: its policies count', async () => {
    await checked(set('team/*'));
    await checked(sync.ask('update', 'auth/token/revoke', { token }));
    await sync.put('team/new', { k: '1' });
    expect(await names()).toEqual(['app/team/a', 'app/team/new']);
  });

  test('those of an entity change with its policies, and end with it', async () => {
    await policy('');
    const reader = 'path "kv/data/team/*" { capabilities = ["read"] }';
    await checked(sync.ask('update', 'sys/policies/acl/reader', { policy: reader }));
    await checked(sync.ask('update', 'auth/token/roles/people', { allowed_entity_aliases: 'ann', allowed_policies: 'syncer' }));
    token = await tokenWith({ entity_alias: 'ann', policies: ['syncer'] }, 'auth/token/create/people');
    const { data } = await checked(sync.ask('list', 'identity/entity/id'));
    const [id] = (data as { keys: string[] }).keys;
    const entity = `identity/entity/id/${id}`;
    await checked(sync.ask('update', entity, { policies: ['reader'] }));
    await checked(set('team/*'));
    expect(await names()).toEqual(['app/team/a', 'app/team/hidden/b']);
    await checked(sync.ask('update', entity, { disabled: true }));
    await sync.put('team/new', { k: '1' });
    expect(await names()).toEqual(['app/team/a', 'app/team/hidden/b']);
  });
});
