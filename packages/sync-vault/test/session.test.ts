import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { formatMark, type RemoteSecret } from '@strongroom/sync-sdk';
import { openTestSession, TEST_MARK, type TestSession, type TestSessionOptions } from '@strongroom/sync-testkit';
import { vaultDestination, type VaultConnection } from '../src/index.ts';
import { describeOnPeers } from './peers.ts';
import { connectionTo, VaultOutside } from './vault-outside.ts';

const never = new AbortController().signal;

describeOnPeers('A session', (start) => {
  const outside = new VaultOutside();
  const opened: TestSession[] = [];
  let session: TestSession;

  const open = async (more: Partial<VaultConnection> = {}, options: TestSessionOptions<unknown> = {}): Promise<TestSession> => {
    const made = await openTestSession(vaultDestination, connectionTo(outside.door.address, more), options);
    opened.push(made);
    return made;
  };
  const read = async (name = 'app'): Promise<RemoteSecret> => (await session.read({ name, signal: never }))!;
  const failure = async (work: Promise<unknown>): Promise<{ code: string | undefined; message: string }> => {
    const error = (await work.then(
      () => new Error('it succeeds'),
      (thrown: unknown) => thrown,
    )) as Error & { code?: string };
    return { code: error.code, message: error.message };
  };
  const custom = async (name = 'app'): Promise<unknown> => (await outside.metadata(name))['custom_metadata'];

  beforeAll(async () => void (outside.door = await start()), 120_000);
  beforeEach(async () => {
    await outside.empty();
    session = await open();
  });
  afterEach(async () => {
    outside.door.before = undefined;
    for (const one of opened.splice(0)) await one.close();
  });
  afterAll(async () => outside.door?.stop());

  test('a whole secret arrives as its map, with the types of its values', async () => {
    const data = { port: 5432, 'user name': 'shop', tls: true, hosts: ['a', 'b'], none: null };
    const fields = { port: '5432', 'user name': 'shop', tls: 'true', hosts: '["a","b"]', none: 'null' };
    await session.write('app', JSON.stringify(data), { fields, tags: { team: 'red' } });
    expect(await outside.see('app')).toEqual(data);
    expect(await custom()).toEqual({ team: 'red', hashicorp: 'vault', 'strongroom-owner': formatMark(TEST_MARK) });
  });

  test('a single key arrives as a secret of that key, whatever its text is', async () => {
    await session.write('app', '{"a":1}', { fields: { a: '{"a":1}' } });
    expect(await outside.see('app')).toEqual({ a: '{"a":1}' });
  });

  test('a secret without keys arrives', async () => {
    await session.write('app', '{}', { fields: {} });
    expect(await outside.see('app')).toEqual({});
  });

  test('secrets lie below path_prefix, and only those are listed', async () => {
    await session.write('app', 'x');
    const below = await open({ path_prefix: '/team/red/' });
    await below.write('a/b', 'y');
    await below.write('ü-1', 'z');
    expect(await outside.see('team/red/a/b')).toEqual({ value: 'y' });
    const names: string[] = [];
    for await (const { name } of below.list({ destination: TEST_MARK.destination, signal: never })) names.push(name);
    expect(names.sort()).toEqual(['a/b', 'ü-1']);
  });

  test('a change adds one version, and what others have described stays', async () => {
    await session.write('app', 'one');
    await outside.door.ask('POST', 'secret/metadata/app', {
      custom_metadata: { ...((await custom()) as object), contact: 'ops' },
      max_versions: 3,
    });
    await session.write('app', 'two', { current: await read() });
    expect(await outside.metadata('app')).toMatchObject({ current_version: 2, max_versions: 3, custom_metadata: { contact: 'ops' } });
  });

  test('a foreign secret that appears before the first call is neither changed nor marked', async () => {
    await outside.set('app', { theirs: 'x' });
    expect(await failure(session.write('app', 'ours'))).toMatchObject({ code: 'name_taken' });
    expect(await outside.see('app')).toEqual({ theirs: 'x' });
    expect(await custom()).toBeNull();
  });

  test.each(['POST /v1/secret/metadata/app', 'POST /v1/secret/data/app'])(
    'a foreign secret that appears right before %s keeps its value, and our mark goes',
    async (call) => {
      outside.door.before = async (now) => {
        if (now !== call) return;
        outside.door.before = undefined;
        await outside.set('app', { theirs: 'x' });
      };
      expect(await failure(session.write('app', 'ours'))).toMatchObject({ code: 'name_taken' });
      expect(await outside.see('app')).toEqual({ theirs: 'x' });
      expect((await read()).mark).toBeUndefined();
    },
  );

  test('an edit between the look and the write is not lost, and the secret stays ours', async () => {
    await session.write('app', 'one');
    const before = await read();
    outside.door.before = async (now) => {
      if (now !== 'POST /v1/secret/data/app') return;
      outside.door.before = undefined;
      await outside.set('app', { value: 'edited' });
    };
    expect(await failure(session.write('app', 'two', { current: before }))).toMatchObject({ code: 'name_taken' });
    expect(await outside.see('app')).toEqual({ value: 'edited' });
    const found = await read();
    expect(found.mark).toEqual(TEST_MARK);
    await session.write('app', 'two', { current: found });
    expect(await outside.see('app')).toEqual({ value: 'two' });
  });

  test('a secret that was made again is neither changed nor removed', async () => {
    await session.write('app', 'one');
    const before = await read();
    await outside.remove('app');
    expect(await failure(session.write('app', 'two', { current: before }))).toMatchObject({ code: 'name_taken' });
    await outside.set('app', { theirs: 'x' });
    expect(await failure(session.write('app', 'two', { current: before }))).toMatchObject({ code: 'name_taken' });
    expect(await failure(session.remove({ name: 'app', current: before, signal: never }))).toMatchObject({ code: 'name_taken' });
    expect(await outside.see('app')).toEqual({ theirs: 'x' });
  });

  test('a deleted version shows as an edit; a write adds one after it, and a removal leaves no version', async () => {
    await session.write('app', 'one');
    const { revision } = await read();
    await outside.door.ask('DELETE', 'secret/data/app');
    const found = await read();
    expect(found).toMatchObject({ mark: TEST_MARK });
    expect(found.revision).toBe(`${revision} deleted`);
    await session.write('app', 'two', { current: found });
    await outside.door.ask('DELETE', 'secret/data/app');
    await session.remove({ name: 'app', current: await read(), signal: never });
    expect(await outside.metadata('app')).toEqual({});
  });

  test('metadata that a broken write has left is taken up', async () => {
    outside.door.cutAt(5, 'request', () => undefined);
    expect(await failure(session.write('app', 'one'))).toMatchObject({ code: 'external_service' });
    outside.door.heal();
    const left = await read();
    expect(left).toEqual({ name: 'app', mark: TEST_MARK, revision: '0' });
    await session.write('app', 'one', { current: left });
    expect(await outside.see('app')).toEqual({ value: 'one' });
  });

  test('a mount that is not there is named', async () => {
    expect(await failure((await open({ mount: 'nowhere' })).write('app', 'x'))).toEqual({
      code: 'client_side',
      message: expect.stringContaining('mount: there is no "nowhere" for this token'),
    });
  });

  test('a mount of version 1, or of another kind, is named, and nothing is written to it', async () => {
    await outside.door.ask('POST', 'sys/mounts/old', { type: 'kv', options: { version: '1' } });
    await outside.door.ask('POST', 'sys/mounts/keys', { type: 'transit' });
    const refusal = (mount: string, kind: string) => ({
      code: 'client_side',
      message: `mount: "${mount}" is ${kind}; sync needs a version-2 key-value mount`,
    });
    try {
      expect(await failure((await open({ mount: 'old' })).write('app', 'x'))).toEqual(refusal('old', 'a version-1 key-value mount'));
      expect(await failure((await open({ mount: 'keys' })).write('app', 'x'))).toEqual(refusal('keys', 'a mount of type transit'));
      expect(await outside.door.ask('GET', 'old?list=true')).toEqual({});
    } finally {
      await outside.door.ask('DELETE', 'sys/mounts/old');
      await outside.door.ask('DELETE', 'sys/mounts/keys');
    }
  });

  test('a folder in the place of a mount is named', async () => {
    expect(await failure((await open({ mount: 'secret/team' })).write('app', 'x'))).toMatchObject({
      message: 'mount: "secret/team" lies in the mount "secret"; use path_prefix for a folder',
    });
  });

  test('a wrong token is named with its status, and the next call looks again', async () => {
    const wrong = await open({ token: 'hvs.wrong' });
    for (const _ of [1, 2]) {
      expect(await failure(wrong.write('app', 'x'))).toEqual({
        code: 'client_side',
        message: expect.stringMatching(/^the server at address answers 403: .*permission denied/),
      });
    }
  });

  test('the namespace goes with every call but the one that asks who the server is', async () => {
    const first = outside.door.exchanges.length;
    await (await open({ namespace: 'nobody' })).write('app', 'x').catch(() => undefined);
    const seen = outside.door.exchanges.slice(first);
    expect(seen.length).toBeGreaterThan(1);
    for (const { path, namespace } of seen) expect([path, namespace]).toEqual([path, path.includes('sys/health') ? undefined : 'nobody']);
  });

  test('a server that is this one is refused before anything is read or written', async () => {
    const { cluster_id: cluster } = (await (await fetch(`${outside.door.address}/v1/sys/health`)).json()) as { cluster_id: string };
    const own = await open({}, { cluster });
    const calls = outside.door.exchanges.length;
    const refusal = { code: 'client_side', message: expect.stringContaining('address is that of this very server') };
    expect(await failure(own.read({ name: 'app', signal: never }))).toEqual(refusal);
    expect(await failure(own.write('app', 'x'))).toEqual(refusal);
    expect(new Set(outside.door.exchanges.slice(calls).map(({ path }) => path.split('?')[0]))).toEqual(new Set(['/v1/sys/health']));
  });

  test('a copy names the servers that it has come through, and is refused by one of them', async () => {
    const { cluster_id: theirs } = (await (await fetch(`${outside.door.address}/v1/sys/health`)).json()) as { cluster_id: string };
    const passing = await open({}, { cluster: 'cluster-b' });
    await passing.write('app', 'x', { origin: 'cluster-a' });
    expect(await custom()).toMatchObject({ 'strongroom-origin': 'cluster-a cluster-b' });
    expect(await failure(passing.write('other', 'x', { origin: `cluster-a ${theirs}` }))).toMatchObject({
      code: 'client_side',
      message: expect.stringContaining('does not copy in circles'),
    });
    expect(await outside.see('other')).toBeUndefined();
    const far = Array.from({ length: 20 }, (_, at) => `${at}`.padStart(36, 'x')).join(' ');
    expect(await failure(passing.write('other', 'x', { origin: far }))).toMatchObject({
      message: expect.stringContaining('too many servers'),
    });
  });

  test('custom metadata that would be too many is refused before the call', async () => {
    const theirs = Object.fromEntries(Array.from({ length: 63 }, (_, at) => [`key-${at}`, 'x']));
    await outside.door.ask('POST', 'secret/metadata/app', { custom_metadata: theirs });
    expect(await failure(session.write('app', 'x', { current: await read() }))).toMatchObject({
      code: 'client_side',
      message: expect.stringContaining('at most 64 are possible'),
    });
    expect(await custom()).toEqual(theirs);
  });

  test('more keys than a body holds are refused before the call', async () => {
    const fields = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`k${at}`, '1']));
    const { requests } = outside.door;
    expect(await failure(session.write('app', JSON.stringify(fields), { fields }))).toMatchObject({
      message: expect.stringContaining('10001 keys'),
    });
    expect(outside.door.requests).toBe(requests);
  });
});
