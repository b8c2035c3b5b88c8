import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BadRequest, f, path, type EnginePackage, type EngineRequest, type SecretSources } from '@strongroom/engine-sdk';
import { manualClock, mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { Type } from 'typebox';
import { PluginRefused } from '../../../src/index.ts';

const Note = Type.Object({ text: Type.String() });
const Heard = Type.Object({ mount: Type.String(), name: Type.String() });

/** Keeps notes, and offers them to subscribers. */
const notes: EnginePackage = {
  name: 'notes',
  kind: 'secret',
  apiVersion: 2,
  create: ({ storage }) => ({
    source: {
      readPath: (name) => `notes/${name}`,
      read: async (name) => {
        const note = await storage.collection('note/', Note).get(name);
        return note && { version: 1, data: note };
      },
    },
    paths: [
      path('notes/{name}', { synopsis: 'Notes.', description: '', fields: { name: f.name('Its name.'), text: f.string('The note.') } })
        .read({ summary: 'Reads.', handle: async ({ data }) => ({ data: await storage.collection('note/', Note).get(data.name) }) })
        .update({
          summary: 'Writes.',
          handle: async ({ data }) => {
            await storage.transaction(async (tx) => {
              await tx.collection('note/', Note).put(data.name, { text: data.text ?? '' });
              await tx.notifySubscribers(data.name);
              if (data.text === 'refused') throw new BadRequest('this note is refused');
            });
            return undefined;
          },
        }),
    ],
  }),
};

/** Keeps a list of what it heard. */
function listener(given: { sources?: SecretSources } = {}): EnginePackage {
  return {
    name: 'listener',
    kind: 'secret',
    apiVersion: 2,
    system: { path: 'sys/listener/', feature: 'listening' },
    subscribesToSecrets: true,
    create: ({ storage, sources }) => {
      given.sources = sources!;
      return {
        subscriber: {
          changed: async (tx, { mount, name }) => {
            if (name === 'unwanted') throw new BadRequest('the subscriber objects');
            await tx.collection('heard/', Heard).put(`changed ${name}`, { mount: mount.path, name });
          },
          unmounted: async (tx, mount) => tx.collection('heard/', Heard).put(`unmounted ${mount.path}`, { mount: mount.path, name: '' }),
        },
        paths: [
          path('heard', { synopsis: 'What was heard.', description: '', fields: {} }).read({
            summary: 'Tells.',
            handle: async () => ({ data: { keys: await storage.collection('heard/', Heard).list() } }),
          }),
          path('may-read', { synopsis: 'What a caller may read.', description: '', fields: { path: f.string('The path.') } }).read({
            summary: 'Tells.',
            handle: async (req) => ({ data: { allowed: sources!.mayRead(req as unknown as EngineRequest, req.data.path ?? '') } }),
          }),
        ],
      };
    },
  };
}

describe('an engine that follows secrets', () => {
  let mount: TestMount;
  let given: { sources?: SecretSources };

  const heard = async (): Promise<unknown> => ((await mount.read('heard')).data as { keys: string[] }).keys;
  const write = async (at: string, text: string, token = 'root') => mount.call('update', at, { data: { text }, token });

  beforeEach(async () => {
    given = {};
    mount = await mountForTest(listener(given), { plugins: [notes], clock: manualClock() });
    await mount.call('update', 'sys/mounts/a', { data: { type: 'notes' } });
  });
  afterEach(async () => mount.close());

  test('hears of a change in the transaction that makes it', async () => {
    await write('a/notes/one', 'x');
    expect(await heard()).toEqual(['changed one']);
  });

  test('hears nothing of a change that is not committed', async () => {
    expect((await write('a/notes/one', 'refused')).status).toBe(400);
    expect(await heard()).toEqual([]);
    expect((await mount.call('read', 'a/notes/one')).data ?? null).toBeNull();
  });

  test('a subscriber that throws fails the change', async () => {
    expect((await write('a/notes/unwanted', 'x')).status).toBe(400);
    expect((await mount.call('read', 'a/notes/unwanted')).data ?? null).toBeNull();
  });

  test('hears of a mount that goes, and only then', async () => {
    await mount.call('update', 'sys/remount', { data: { from: 'a', to: 'b' } });
    expect(await heard()).toEqual([]);
    await mount.call('delete', 'sys/mounts/b');
    expect(await heard()).toEqual(['unmounted b/']);
  });

  test('finds the mounts of secrets by path, accessor and uuid, and follows them when they move', async () => {
    const { sources } = given;
    const found = sources?.at('a');
    expect(sources?.at('a/')).toEqual(found);
    const { accessor, uuid } = found!.mount;
    await write('a/notes/one', 'x');
    expect(await found!.source!.read('one')).toEqual({ version: 1, data: { text: 'x' } });
    await mount.call('update', 'sys/remount', { data: { from: 'a', to: 'b' } });
    expect(sources?.at('a')).toBeUndefined();
    expect(sources?.byAccessor(accessor)?.mount.path).toBe('b/');
    expect(sources?.byUuid(uuid)?.mount.path).toBe('b/');
    expect(sources?.at('cubbyhole')?.source).toBeUndefined();
    expect(sources?.byUuid('nobody')).toBeUndefined();
  });

  test('asks the policies of the caller, and of nobody else', async () => {
    await mount.call('update', 'sys/policies/acl/reader', {
      data: { policy: 'path "a/notes/one" { capabilities = ["read"] } path "sys/listener/*" { capabilities = ["read"] }' },
    });
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['reader'] } });
    const token = made.auth!.client_token;
    const may = async (at: string): Promise<unknown> =>
      (await mount.call('read', 'sys/listener/may-read', { token, data: { path: at } })).data;
    expect(await may('a/notes/one')).toEqual({ allowed: true });
    expect(await may('a/notes/two')).toEqual({ allowed: false });
    expect(given.sources!.mayRead({} as EngineRequest, 'a/notes/one')).toBe(false);
  });

  test('a package that does not declare it gets no sources', async () => {
    let sources: unknown = 'never made';
    const plain: EnginePackage = { ...notes, name: 'plain', create: (host) => ((sources = host.sources), notes.create(host)) };
    const other = await mountForTest(plain);
    expect(sources).toBeUndefined();
    await other.close();
  });
});

describe('a mount of the server itself', () => {
  let mount: TestMount;
  const store = sharedMemory();

  beforeEach(async () => {
    mount = await mountForTest(listener(), { storage: store.open() });
  });
  afterEach(async () => mount.close());

  test('is there without being mounted, and once', async () => {
    expect((await mount.read('heard')).status).toBe(200);
    const keys = (await store.open().range({ prefix: 'core/mount/', keysOnly: true })).length;
    await mount.close();
    mount = await mountForTest(listener(), { storage: store.open() });
    expect((await store.open().range({ prefix: 'core/mount/', keysOnly: true })).length).toBe(keys);
  });

  test('is in no list of mounts', async () => {
    expect(Object.keys((await mount.call('read', 'sys/mounts')).data as object)).not.toContain('sys/listener/');
    const ui = (await mount.call('read', 'sys/internal/ui/mounts')).data as { secret: object };
    expect(Object.keys(ui.secret)).not.toContain('sys/listener/');
  });

  test.each([
    ['unmounted', 'delete', 'sys/mounts/sys/listener', {}, 'cannot unmount "sys/listener/"'],
    ['moved', 'update', 'sys/remount', { from: 'sys/listener', to: 'elsewhere' }, 'cannot remount "sys/listener/"'],
    ['tuned', 'update', 'sys/mounts/sys/listener/tune', { default_lease_ttl: '1h' }, 'cannot tune "sys/listener/"'],
    ['mounted again', 'update', 'sys/mounts/more', { type: 'listener' }, 'mount type of "listener" is not mountable'],
  ] as const)('cannot be %s', async (_, operation, at, data, text) => {
    expect((await mount.call(operation, at, { data })).errors).toEqual([text]);
  });

  test('goes by the policies that name its path', async () => {
    await mount.call('update', 'sys/policies/acl/p', { data: { policy: 'path "sys/listener/heard" { capabilities = ["read"] }' } });
    const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['p'] } })).auth!.client_token;
    expect((await mount.call('read', 'sys/listener/heard', { token })).status).toBe(200);
    expect((await mount.call('read', 'sys/listener/may-read', { token })).status).toBe(403);
  });

  test('GET sys/activation-flags shows its feature without a token', async () => {
    expect((await mount.call('read', 'sys/activation-flags', { token: '' })).data).toEqual({ activated: ['listening'], unactivated: [] });
  });

  test('sys/activation-flags/<feature>/activate answers what is activated, and 404 for what there is not', async () => {
    const activate = async (feature: string) => mount.call('update', `sys/activation-flags/${feature}/activate`);
    expect((await activate('listening')).data).toEqual({ activated: ['listening'], unactivated: [] });
    expect((await activate('flying')).errors).toEqual(['there is no feature "flying"; there are: listening']);
  });

  test('has one segment below sys/', async () => {
    const misplaced: EnginePackage = { ...listener(), system: { path: 'sys/Two/parts/' } };
    await expect(mountForTest(misplaced)).rejects.toThrow(PluginRefused);
  });
});
