import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '../src/index.ts';

const START = '2030-01-01T00:00:00.000Z';

let mount: TestMount;
beforeEach(async () => {
  mount = await mountForTest(kvEngine, { options: { version: '2' } });
});
afterEach(async () => mount.close());

const write = async (id: string, data: unknown, options?: unknown) =>
  mount.call('update', `kv/data/${id}`, { data: { data, ...(options === undefined ? {} : { options }) } });
const read = async (id: string, version?: number) =>
  mount.call('read', `kv/data/${id}`, version === undefined ? {} : { data: { version: String(version) } });

describe('writing and reading', () => {
  test('a write answers the metadata of the new version', async () => {
    const answer = await write('app/db', { user: 'u' });
    expect(answer).toMatchObject({ status: 200, warnings: null });
    expect(answer.data).toEqual({ created_time: START, custom_metadata: null, deletion_time: '', destroyed: false, version: 1 });
    expect((await write('app/db', { user: 'u2' })).data).toMatchObject({ version: 2 });
  });

  test('the current version is read unless another is asked for', async () => {
    await write('app/db', { user: 'u', pass: 'p' });
    await mount.advance(1);
    await write('app/db', { user: 'u2' });
    const metadata = { custom_metadata: null, deletion_time: '', destroyed: false };
    expect((await read('app/db')).data).toEqual({
      data: { user: 'u2' },
      metadata: { ...metadata, created_time: '2030-01-01T00:00:01.000Z', version: 2 },
    });
    expect((await read('app/db', 1)).data).toEqual({
      data: { user: 'u', pass: 'p' },
      metadata: { ...metadata, created_time: START, version: 1 },
    });
    expect((await read('app/db', 0)).data).toEqual((await read('app/db')).data);
  });

  test('what never was is 404 without data', async () => {
    await write('a', { x: 1 });
    for (const answer of [await read('none'), await read('a', 2), await read('a', -1)])
      expect(answer).toMatchObject({ status: 404, errors: [] });
    expect(await mount.call('read', 'kv/data/a', { data: { version: 'x' } })).toMatchObject({ status: 400 });
  });

  test('a write without data is refused', async () => {
    expect(await mount.call('update', 'kv/data/a', { data: { nodata: 1 } })).toMatchObject({
      status: 400,
      errors: ['no data provided', 'nodata is not a field here; did you mean data?'],
    });
    expect(await write('a', null)).toMatchObject({ status: 400, errors: ['no data provided'] });
    expect((await write('a', 'text')).status).toBe(400);
    expect((await read('a')).status).toBe(404);
  });

  test('an empty object is data', async () => {
    await write('a', {});
    expect((await read('a')).data).toMatchObject({ data: {} });
  });

  test('unknown keys of the body give a warning', async () => {
    const answer = await mount.call('update', 'kv/data/a', { data: { data: { x: 1 }, b: 1, a: 2 } });
    expect(answer.warnings).toEqual(['Endpoint ignored these unrecognized parameters: [a b]']);
  });

  test.each(['a b', 'ümlaut/✓', 'x%2Fy', 'dots.and..more/.hidden', 'sla/sh/es', 'a+b=c&d?e#f', 'quote\'"\\', '1/2', 'x'.repeat(900)])(
    'a secret may be called %s',
    async (id) => {
      await write(id, { name: id });
      await write(id, { name: `${id}2` });
      expect((await read(id)).data).toMatchObject({ data: { name: `${id}2` } });
      expect((await read(id, 1)).data).toMatchObject({ data: { name: id } });
      const folder = id.includes('/') ? id.slice(0, id.lastIndexOf('/') + 1) : '';
      expect((await mount.list(`metadata/${folder}`)).data).toEqual({ keys: [id.slice(folder.length)] });
    },
  );

  test('keys that mean something to JavaScript are kept', async () => {
    const data = JSON.parse('{"__proto__":{"a":{"b":1}},"constructor":"c"}') as unknown;
    await write('odd', data);
    await mount.patch('data/odd', { data: JSON.parse('{"__proto__":{"a":{"c":2}}}') as unknown });
    expect(JSON.stringify(((await read('odd')).data as { data: unknown }).data)).toBe(
      '{"__proto__":{"a":{"b":1,"c":2}},"constructor":"c"}',
    );
    expect(JSON.stringify((await mount.read('subkeys/odd')).data)).toContain('"__proto__":{"a":{"b":null,"c":null}}');
  });

  test('values of many megabytes are kept, replaced and read by version', async () => {
    const big = 'x'.repeat(30 * 2 ** 20);
    await write('big', { big });
    await write('big', { small: 1 });
    expect(((await read('big', 1)).data as { data: { big: string } }).data.big).toHaveLength(big.length);
    expect((await read('big')).data).toMatchObject({ data: { small: 1 } });
  }, 60_000);
});

describe('check-and-set', () => {
  test('a write succeeds only over the version that it names', async () => {
    await write('a', { n: 1 }, { cas: 0 });
    expect(await write('a', { n: 1 }, { cas: 0 })).toMatchObject({
      status: 400,
      errors: ['check-and-set parameter did not match the current version'],
    });
    expect((await write('a', { n: 2 }, { cas: '1' })).status).toBe(200);
    expect((await write('a', { n: 3 }, { cas: 1 })).status).toBe(400);
    expect((await read('a')).data).toMatchObject({ data: { n: 2 }, metadata: { version: 2 } });
  });

  test('a misspelt option is warned of', async () => {
    await write('a', { n: 1 });
    expect(await write('a', { n: 2 }, { csa: 0, other: 1 })).toMatchObject({
      status: 200,
      warnings: [
        'Endpoint ignored these unrecognized parameters: [options.csa options.other]',
        'options.csa is not a field here; did you mean options.cas?',
      ],
    });
    expect((await write('a', { n: 3 }, { cas: 2 })).warnings ?? []).toEqual([]);
  });

  test('a cas that is no number is refused', async () => {
    const answer = await write('a', { n: 1 }, { cas: 'one' });
    expect(answer.status).toBe(400);
    expect(answer.errors?.[0]).toMatch(/^error parsing check-and-set parameter: /);
    expect((await write('a', { n: 1 }, { cas: { a: 1 } })).status).toBe(400);
  });

  test('the mount or the secret can require it', async () => {
    const required = { status: 400, errors: ['check-and-set parameter required for this call'] };
    await mount.write('metadata/a', { cas_required: true });
    expect(await write('a', { n: 1 })).toMatchObject(required);
    expect((await write('a', { n: 1 }, { cas: 0 })).status).toBe(200);
    await mount.write('config', { cas_required: true });
    expect(await write('b', { n: 1 }, {})).toMatchObject(required);
    expect(await mount.call('patch', 'kv/data/a', { data: { data: { m: 1 } } })).toMatchObject(required);
    expect((await mount.patch('data/a', { data: { m: 1 }, options: { cas: 1 } })).status).toBe(200);
  });
});

describe('patching', () => {
  test('merges into the current version and adds one', async () => {
    await write('a', { keep: 1, drop: 2, deep: { x: 1, y: 2 }, list: [1] });
    const answer = await mount.patch('data/a', { data: { drop: null, deep: { y: null, z: { n: 1, no: null } }, list: [2], new: 'n' } });
    expect(answer.data).toMatchObject({ version: 2 });
    expect((await read('a')).data).toMatchObject({ data: { keep: 1, deep: { x: 1, z: { n: 1 } }, list: [2], new: 'n' } });
    expect((await read('a', 1)).data).toMatchObject({ data: { drop: 2, deep: { y: 2 } } });
  });

  test('of a large secret works too', async () => {
    await write('a', { large: 'x'.repeat(20_000) });
    await mount.patch('data/a', { data: { more: 1 } });
    await mount.patch('data/a', { data: { large: null } });
    expect((await read('a')).data).toMatchObject({ data: { more: 1 } });
    expect(((await read('a', 2)).data as { data: { large: string } }).data.large).toHaveLength(20_000);
  });

  test('of what is not there or deleted is 404', async () => {
    expect(await mount.call('patch', 'kv/data/none', { data: { data: {} } })).toMatchObject({ status: 404, raw: { body: '' } });
    await mount.write('metadata/bare', { max_versions: 1 });
    expect((await mount.call('patch', 'kv/data/bare', { data: { data: {} } })).status).toBe(404);
    await write('a', { x: 1 });
    await mount.delete('data/a');
    expect(await mount.call('patch', 'kv/data/a', { data: { data: {} } })).toMatchObject({
      status: 404,
      data: { version: 1, deletion_time: START },
    });
    expect(await mount.call('patch', 'kv/data/a', { data: {} })).toMatchObject({ status: 400, errors: ['no data provided'] });
  });
});

describe('deleting', () => {
  beforeEach(async () => {
    for (const n of [1, 2, 3]) await write('a', { n });
    await mount.advance(1);
  });
  const later = '2030-01-01T00:00:01.000Z';

  test('the current version: 404 with its metadata, and back', async () => {
    await mount.write('metadata/a', { custom_metadata: { owner: 'x' } });
    expect((await mount.delete('data/a')).status).toBe(204);
    const gone = await read('a');
    expect(gone).toMatchObject({ status: 404, leaseId: '', warnings: null });
    expect(gone.errors).toBeUndefined();
    expect(gone.data).toEqual({
      data: null,
      metadata: { created_time: START, custom_metadata: { owner: 'x' }, deletion_time: later, destroyed: false, version: 3 },
    });
    expect((await read('a', 2)).status).toBe(200);
    expect((await mount.write('undelete/a', { versions: [3] })).status).toBe(204);
    expect((await read('a')).data).toMatchObject({ data: { n: 3 }, metadata: { deletion_time: '' } });
  });

  test('is 204 for what is not there', async () => {
    expect((await mount.delete('data/none')).status).toBe(204);
    expect((await mount.delete('metadata/none')).status).toBe(204);
    for (const verb of ['delete', 'undelete', 'destroy']) {
      expect((await mount.write(`${verb}/none`, { versions: [1] })).status).toBe(204);
      expect((await mount.write(`${verb}/a`, { versions: [99] })).status).toBe(204);
    }
    expect((await read('a')).status).toBe(200);
  });

  test('keeps the first deletion time', async () => {
    await mount.delete('data/a');
    await mount.advance(60);
    await mount.delete('data/a');
    await mount.write('delete/a', { versions: '3' });
    expect((await read('a')).data).toMatchObject({ metadata: { deletion_time: later } });
  });

  test('takes version numbers as a list or as text', async () => {
    await mount.write('delete/a', { versions: '1, 3' });
    expect([(await read('a', 1)).status, (await read('a', 2)).status, (await read('a', 3)).status]).toEqual([404, 200, 404]);
    await mount.write('destroy/a', { versions: [1] });
    await mount.write('undelete/a', { versions: ['1', '3'] });
    expect((await read('a', 1)).data).toMatchObject({ data: null, metadata: { destroyed: true, deletion_time: later } });
    expect((await read('a', 3)).status).toBe(200);
  });

  test('needs version numbers', async () => {
    for (const [verb, text] of [
      ['delete', 'No version number provided'],
      ['undelete', 'No version number provided'],
      ['destroy', 'no version number provided'],
    ] as const) {
      expect(await mount.call('update', `kv/${verb}/a`, { data: {} })).toMatchObject({ status: 400, errors: [text] });
      expect(await mount.call('update', `kv/${verb}/a`, { data: { versions: [] } })).toMatchObject({ status: 400, errors: [text] });
    }
  });

  test('the metadata removes every version; a new secret begins at 1', async () => {
    await mount.delete('metadata/a');
    for (const version of [0, 1, 2, 3]) expect(await read('a', version)).toMatchObject({ status: 404, errors: [] });
    expect((await mount.call('list', 'kv/metadata/')).status).toBe(404);
    expect((await write('a', { n: 9 }, { cas: 0 })).data).toMatchObject({ version: 1 });
    expect((await read('a', 2)).status).toBe(404);
  });
});

describe('delete_version_after', () => {
  const deletion = async (id: string) => ((await read(id)).data as { metadata: { deletion_time: string } }).metadata.deletion_time;

  test('sets the deletion of new versions, and the clock carries it out', async () => {
    await mount.write('metadata/a', { delete_version_after: '1h' });
    const { data } = await write('a', { n: 1 });
    expect(data).toMatchObject({ deletion_time: '2030-01-01T01:00:00.000Z' });
    await mount.advance('59m');
    expect((await read('a')).status).toBe(200);
    await mount.advance('1m');
    expect(await read('a')).toMatchObject({ status: 404, data: { data: null } });
    await mount.write('undelete/a', { versions: [1] });
    expect((await read('a')).data).toMatchObject({ data: { n: 1 }, metadata: { deletion_time: '' } });
  });

  test('the smaller of mount and secret counts, and a negative one of the mount disables both', async () => {
    await mount.write('config', { delete_version_after: '30m' });
    await write('a', {});
    expect(await deletion('a')).toBe('2030-01-01T00:30:00.000Z');
    await mount.write('metadata/a', { delete_version_after: '1h' });
    await write('a', {});
    expect(await deletion('a')).toBe('2030-01-01T00:30:00.000Z');
    await mount.write('metadata/a', { delete_version_after: '10m' });
    await write('a', {});
    expect(await deletion('a')).toBe('2030-01-01T00:10:00.000Z');
    await mount.write('config', { delete_version_after: '-1s' });
    await write('a', {});
    expect(await deletion('a')).toBe('');
    await mount.write('config', { delete_version_after: 0 });
    await write('a', {});
    expect(await deletion('a')).toBe('2030-01-01T00:10:00.000Z');
  });
});

describe('subkeys', () => {
  beforeEach(async () => write('a', { text: 'x', list: [{ a: 1 }], none: null, empty: {}, deep: { x: 1, deeper: { y: 2 } } }));
  const leaves = { text: null, list: null, none: null, empty: null };

  test('hold no values', async () => {
    const { data } = await mount.read('subkeys/a');
    expect(data).toEqual({
      metadata: { created_time: START, custom_metadata: null, deletion_time: '', destroyed: false, version: 1 },
      subkeys: { ...leaves, deep: { x: null, deeper: { y: null } } },
    });
  });

  test('go as deep as asked', async () => {
    expect((await mount.read('subkeys/a', { depth: 1 })).data).toMatchObject({ subkeys: { ...leaves, deep: null } });
    expect((await mount.read('subkeys/a', { depth: 2 })).data).toMatchObject({ subkeys: { ...leaves, deep: { x: null, deeper: null } } });
    expect((await mount.call('read', 'kv/subkeys/a', { data: { depth: -1 } })).status).toBe(400);
  });

  test('of a version, and of deleted ones the metadata', async () => {
    await write('a', { other: 1 });
    expect((await mount.read('subkeys/a', { version: 1 })).data).toMatchObject({ subkeys: leaves });
    await mount.delete('data/a');
    expect(await mount.call('read', 'kv/subkeys/a')).toMatchObject({ status: 404, data: { subkeys: null, metadata: { version: 2 } } });
    expect(await mount.call('read', 'kv/subkeys/none')).toMatchObject({ status: 404, errors: [] });
  });
});

test('any other path says that it is wrong for this version', async () => {
  expect(await mount.call('read', 'kv/app/db')).toMatchObject({
    status: 404,
    data: null,
    warnings: [expect.stringMatching(/^Invalid path for a versioned K\/V secrets engine\./)],
  });
});

test('a policy of create does not allow to overwrite', async () => {
  await mount.call('update', 'sys/policies/acl/adder', { data: { policy: 'path "kv/data/*" { capabilities = ["create"] }' } });
  const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['adder'] } })).auth?.client_token ?? '';
  expect(token).not.toBe('');
  const add = async () => mount.call('update', 'kv/data/a', { token, data: { data: { x: 1 } } });
  expect((await add()).status).toBe(200);
  expect((await add()).status).toBe(403);
});
