import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ImportStopped, runImport, SecretsFile, type Report, type Wire } from '@strongroom/import';
import { testServer, type TestServer } from './import-target.ts';

/** A wire to a server, which is dead after so many calls. The last one reaches the server, and its answer is lost. */
function wireTo(server: TestServer, { dies = Infinity }: { dies?: number } = {}): Wire & { calls: number } {
  const wire = {
    calls: 0,
    async send(method: string, path: string, { query = {}, body }: { query?: Readonly<Record<string, string>>; body?: unknown } = {}) {
      wire.calls += 1;
      if (wire.calls > dies) throw new ImportStopped('killed');
      const url = new URL(`/v1/${encodeURI(path)}`, server.address);
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      const init = { method, headers: { 'X-Vault-Token': 'root' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const answer = await fetch(url, init);
      const text = await answer.text();
      if (wire.calls >= dies) throw new ImportStopped('killed');
      return { status: answer.status, text };
    },
  };
  return wire;
}

let source: TestServer;
let target: TestServer;
let folder: string;

/** Everything that counts of a server: secrets with all versions, policies, entities and groups. */
async function wholeOf(server: TestServer): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const walk = async (root: string, read: (name: string) => Promise<void>, at = ''): Promise<void> => {
    for (const name of await server.list(root + at)) await (name.endsWith('/') ? walk(root, read, at + name) : read(at + name));
  };
  await walk('secret/metadata/', async (name) => {
    const metadata = (await server.read(`secret/metadata/${name}`))!;
    found[`secret/${name}`] = metadata;
    for (const version of Object.keys(metadata['versions'] as object))
      found[`secret/${name} ${version}`] = await server.read(`secret/data/${name}`, { version: Number(version) });
  });
  await walk('plain/', async (name) => void (found[`plain/${name}`] = await server.read(`plain/${name}`)));
  for (const name of await server.list('sys/policies/acl'))
    if (name !== 'root' && name !== 'default')
      found[`policy ${name}`] = { ...(await server.read(`sys/policies/acl/${name}`)), modified: undefined };
  for (const kind of ['entity', 'group'])
    for (const id of await server.list(`identity/${kind}/id`)) {
      const { name, policies, metadata } = (await server.read(`identity/${kind}/id/${id}`))!;
      found[`${kind} ${id}`] = { name, policies, metadata };
    }
  return found;
}

async function run(dies: number, checkpoint: string | undefined): Promise<Report> {
  return runImport({
    source: { wire: wireTo(source), address: source.address, namespace: '' },
    target: { wire: wireTo(target, { dies }), address: target.address },
    ...{
      apply: true,
      include: [],
      exclude: [],
      versions: 'all',
      undelete: false,
      takeOver: false,
      renames: [],
      secrets: new SecretsFile(),
    },
    ...{
      onConflict: 'skip',
      parallel: 4,
      rate: undefined,
      checkpoint,
      verify: 'all',
      sleep: async () => Promise.resolve(),
      now: () => Date.now(),
    },
  });
}

beforeAll(async () => {
  source = await testServer();
  folder = await mkdtemp(join(tmpdir(), 'strongroom-import-'));
  await source.write('sys/mounts/secret', { type: 'kv', options: { version: '2' }, description: 'of the source' });
  await source.write('sys/mounts/plain', { type: 'kv' });
  for (let n = 0; n < 30; n += 1) {
    for (let version = 0; version <= n % 4; version += 1) await source.write(`secret/data/app ${n % 3}/ü${n}`, { data: { n, version } });
    await source.write(`plain/p/${n}`, { n });
  }
  await source.write('secret/delete/app 0/ü3', { versions: [2] });
  await source.write('secret/destroy/app 1/ü7', { versions: [1, 3] });
  await source.write('secret/metadata/app 2/ü2', { custom_metadata: { owner: 'ops' }, max_versions: 7, delete_version_after: '90m' });
  for (let n = 0; n < 5; n += 1) {
    await source.write(`sys/policies/acl/p${n}`, { policy: `path "secret/data/${n}" { capabilities = ["read"] }` });
    await source.write('identity/entity', { name: `e${n}`, policies: [`p${n}`], metadata: { n: String(n) } });
    await source.write('identity/group', { name: `g${n}`, policies: [`p${n}`] });
  }
});
afterAll(async () => {
  await Promise.all([source.close(), rm(folder, { recursive: true })]);
});
beforeEach(async () => {
  target = await testServer();
});
afterEach(async () => target.close());

describe('an import from another Strongroom', () => {
  test('brings everything as it is there, and nothing when it runs again', async () => {
    const report = await run(Infinity, undefined);
    expect(report.totals).toMatchObject({ failed: 0, conflict: 0, refused: 0, 'not-carriable': 0 });
    expect(report.verified?.different).toEqual([]);
    expect(await wholeOf(target)).toEqual(await wholeOf(source));
    expect((await run(Infinity, undefined)).totals).toMatchObject({ imported: 0, changed: 0, conflict: 0, failed: 0 });
  });

  test.each([
    ['with a checkpoint', true],
    ['without a checkpoint', false],
  ])('that is killed twenty times, %s, loses nothing and doubles nothing', async (_, kept) => {
    const checkpoint = kept ? join(folder, 'checkpoint') : undefined;
    let kills = 0;
    for (let dies = 6; kills < 20; dies += 4) {
      const report = await run(dies, checkpoint).catch((error: unknown) => {
        if (!(error instanceof ImportStopped)) throw error;
        return undefined;
      });
      if (report && report.stopped === undefined) break;
      kills += 1;
      // A write of the file that the kill cut.
      const text = checkpoint && (await readFile(checkpoint, 'utf8').catch(() => undefined));
      if (checkpoint && text && kills % 3 === 0) await writeFile(checkpoint, text.slice(0, -7));
    }
    expect(kills).toBe(20);
    const report = await run(Infinity, checkpoint);
    expect(report.totals).toMatchObject({ failed: 0, conflict: 0, refused: 0, 'not-carriable': 0 });
    expect(report.verified?.different).toEqual([]);
    expect(await wholeOf(target)).toEqual(await wholeOf(source));
    if (checkpoint) await expect(readFile(checkpoint)).rejects.toThrow('ENOENT');
  });
});
