import { beforeEach, describe, expect, test } from '@jest/globals';
import { cliLab, denied } from './fake-server.ts';
import { envelope, kvRead, mountAnswer, versionMetadata } from './fixtures/answers.ts';

const lab = cliLab();
const metadataAnswer = { body: envelope({ data: { ...versionMetadata, version: 2 } }) };

beforeEach(() => {
  for (const path of ['secret/app/db', 'secret/app', 'secret'])
    lab.routes[`GET sys/internal/ui/mounts/${path}`] = { body: mountAnswer('secret/', '2') };
  for (const path of ['old/app', 'old']) lab.routes[`GET sys/internal/ui/mounts/${path}`] = { body: mountAnswer('old/', '1') };
});

describe('kv get', () => {
  test('prints path, metadata and data as three blocks', async () => {
    lab.routes['GET secret/data/app/db'] = { body: kvRead };
    const { code, stdout } = await lab.run(['kv', 'get', 'secret/app/db']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        '=== Secret Path ===',
        'secret/data/app/db',
        '',
        '======= Metadata =======',
        'Key                Value',
        '---                -----',
        'created_time       2026-11-21T09:14:35.072566108Z',
        'custom_metadata    <nil>',
        'deletion_time      n/a',
        'destroyed          false',
        'version            1',
        '',
        '==== Data ====',
        'Key     Value',
        '---     -----',
        'pass    correct-horse',
        'user    app',
        '',
      ].join('\n'),
    );
  });

  test('takes the mount in the key or beside it', async () => {
    lab.routes['GET secret/data/app/db'] = { body: kvRead };
    for (const words of [['secret/app/db'], ['-mount=secret', 'app/db'], ['-mount', 'secret/', '/app/db']]) {
      expect(await lab.run(['kv', 'get', '-field=user', ...words])).toEqual({ code: 0, stdout: 'app', stderr: '' });
    }
    expect(await lab.run(['kv', '-mount=secret', 'get', '-field=user', 'app/db'])).toMatchObject({ code: 0, stdout: 'app' });
  });

  test('knows mounts whose own path has slashes', async () => {
    lab.routes['GET sys/internal/ui/mounts/team/kv/app'] = { body: mountAnswer('team/kv/', '2') };
    lab.routes['GET team/kv/data/app'] = { body: kvRead };
    expect(await lab.run(['kv', 'get', 'team/kv/app'])).toMatchObject({ code: 0 });
  });

  test('reads version 1 where it is', async () => {
    lab.routes['GET old/app'] = { body: envelope({ lease_duration: 2764800, data: { k: 'v' } }) };
    const { stdout } = await lab.run(['kv', 'get', 'old/app']);
    expect(stdout).toContain('refresh_interval    768h\nk                   v');
  });

  test('asks for the version given', async () => {
    lab.routes['GET secret/data/app/db?version=1'] = { body: kvRead };
    expect(await lab.run(['kv', 'get', '-version=1', 'secret/app/db'])).toMatchObject({ code: 0 });
  });

  test('shows the metadata of a deleted version, and exits 2', async () => {
    const metadata = { ...versionMetadata, deletion_time: '2026-11-21T09:15:00Z' };
    lab.routes['GET secret/data/app/db'] = { status: 404, body: envelope({ data: { data: null, metadata } }) };
    const { code, stdout } = await lab.run(['kv', 'get', 'secret/app/db']);
    expect(code).toBe(2);
    expect(stdout).toContain('deletion_time      2026-11-21T09:15:00Z');
    expect(stdout).not.toContain('Data ===');
  });

  test('exits 2 when there is no such key', async () => {
    expect(await lab.run(['kv', 'get', 'secret/app/db'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'No value found at secret/data/app/db\n',
    });
  });

  test('a field is looked for in the data, and data is the whole of them', async () => {
    lab.routes['GET secret/data/app/db'] = { body: kvRead };
    expect((await lab.run(['kv', 'get', '-field=data', '-format=json', 'secret/app/db'])).stdout).toBe(
      '{\n  "user": "app",\n  "pass": "correct-horse"\n}',
    );
    expect(await lab.run(['kv', 'get', '-field=version', 'secret/app/db'])).toMatchObject({ code: 1 });
  });

  test('a refused look-up of the mount is the answer', async () => {
    lab.routes['GET sys/internal/ui/mounts/secret/app/db'] = denied();
    const { code, stderr } = await lab.run(['kv', 'get', 'secret/app/db']);
    expect(code).toBe(2);
    expect(stderr).toContain('sys/internal/ui/mounts/secret/app/db\nCode: 403.');
  });

  test('describes the real request, not the look-up before it, and never wraps the look-up', async () => {
    expect((await lab.run(['kv', 'get', '-output-policy', 'secret/app/db'])).stdout).toContain('path "secret/data/app/db"');
    await lab.run(['kv', 'get', '-wrap-ttl=60', 'secret/app/db']);
    const [lookup, real] = lab.seen.slice(-2);
    expect(lookup?.headers).not.toHaveProperty('x-vault-wrap-ttl');
    expect(real?.headers).toHaveProperty('x-vault-wrap-ttl', '60');
  });
});

describe('kv put', () => {
  test('writes the data and prints the new version', async () => {
    lab.routes['PUT secret/data/app/db'] = metadataAnswer;
    const { stdout } = await lab.run(['kv', 'put', '-mount=secret', '-cas=1', 'app/db', 'user=app', 'pass=x']);
    expect(lab.seen.at(-1)?.body).toEqual({ data: { user: 'app', pass: 'x' }, options: { cas: 1 } });
    expect(stdout).toContain('=== Secret Path ===\nsecret/data/app/db\n\n======= Metadata =======\n');
    expect(stdout).toContain('version            2');
  });

  test('a check-and-set of 0 is sent, and none by default', async () => {
    lab.routes['PUT secret/data/app/db'] = metadataAnswer;
    await lab.run(['kv', 'put', '-cas=0', 'secret/app/db', 'a=1']);
    expect(lab.seen.at(-1)?.body).toEqual({ data: { a: '1' }, options: { cas: 0 } });
    await lab.run(['kv', 'put', 'secret/app/db', 'a=1']);
    expect(lab.seen.at(-1)?.body).toEqual({ data: { a: '1' } });
  });

  test('writes version 1 as it is', async () => {
    lab.routes['PUT old/app'] = {};
    expect(await lab.run(['kv', 'put', 'old/app', 'a=1'])).toMatchObject({ code: 0, stdout: 'Success! Data written to: old/app\n' });
    expect(lab.seen.at(-1)?.body).toEqual({ a: '1' });
  });

  test('a mismatch of versions exits 2', async () => {
    lab.routes['PUT secret/data/app/db'] = { status: 400, body: { errors: ['check-and-set parameter did not match the current version'] } };
    const { code, stderr } = await lab.run(['kv', 'put', '-cas=7', 'secret/app/db', 'a=1']);
    expect(code).toBe(2);
    expect(stderr).toContain('* check-and-set parameter did not match the current version');
  });

  test('needs data', async () => {
    expect((await lab.run(['kv', 'put', 'secret/app/db'])).stderr).toContain('Not enough arguments (expected 2+, got 1)');
  });
});

describe('kv patch', () => {
  test('sends only the changes, removals as null', async () => {
    lab.routes['PATCH secret/data/app/db'] = metadataAnswer;
    expect(await lab.run(['kv', 'patch', '-remove-data=gone', 'secret/app/db', 'pass=new'])).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)).toMatchObject({
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { data: { pass: 'new', gone: null } },
    });
  });

  test.each([403, 405])('reads, merges and writes where the server answers %d', async (status) => {
    lab.routes['PATCH secret/data/app/db'] = { status, body: { errors: ['no'] } };
    lab.routes['GET secret/data/app/db'] = { body: kvRead };
    lab.routes['PUT secret/data/app/db'] = metadataAnswer;
    expect(await lab.run(['kv', 'patch', '-remove-data=user', 'secret/app/db', 'pass=new'])).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)?.body).toEqual({ data: { pass: 'new' }, options: { cas: 1 } });
  });

  test('-method says which of the two, and nothing else', async () => {
    lab.routes['PATCH secret/data/app/db'] = { status: 405, body: { errors: [] } };
    lab.routes['GET secret/data/app/db'] = { body: kvRead };
    lab.routes['PUT secret/data/app/db'] = metadataAnswer;
    expect(await lab.run(['kv', 'patch', '-method=patch', 'secret/app/db', 'a=1'])).toMatchObject({ code: 2 });
    await lab.run(['kv', 'patch', '-method=rw', 'secret/app/db', 'a=1']);
    expect(lab.seen.slice(-2).map(({ method }) => method)).toEqual(['GET', 'PUT']);
  });

  test('a key that is not there exits 2', async () => {
    expect(await lab.run(['kv', 'patch', 'secret/app/db', 'a=1'])).toMatchObject({
      code: 2,
      stderr: 'No value found at secret/data/app/db\n',
    });
  });

  test('is not for version 1', async () => {
    expect((await lab.run(['kv', 'patch', 'old/app', 'a=1'])).stderr).toContain('kv patch is not supported by version 1');
  });
});

describe('kv list', () => {
  test('lists under the metadata of version 2, and plainly for version 1', async () => {
    lab.routes['GET secret/metadata/app?list=true'] = { body: envelope({ data: { keys: ['db'] } }) };
    lab.routes['GET secret/metadata?list=true'] = { body: envelope({ data: { keys: ['app/'] } }) };
    lab.routes['GET old/app?list=true'] = { body: envelope({ data: { keys: ['b'] } }) };
    expect((await lab.run(['kv', 'list', 'secret/app/'])).stdout).toBe('Keys\n----\ndb\n');
    expect((await lab.run(['kv', 'list', '-mount=secret'])).stdout).toBe('Keys\n----\napp/\n');
    expect((await lab.run(['kv', 'list', 'secret/'])).stdout).toBe('Keys\n----\napp/\n');
    expect((await lab.run(['kv', 'list', 'old/app'])).stdout).toBe('Keys\n----\nb\n');
    expect(await lab.run(['kv', 'list'])).toMatchObject({ code: 1 });
  });
});

describe('versions', () => {
  test('kv delete takes the latest or those given', async () => {
    lab.routes['DELETE secret/data/app/db'] = {};
    lab.routes['PUT secret/delete/app/db'] = {};
    expect((await lab.run(['kv', 'delete', 'secret/app/db'])).stdout).toBe(
      'Success! Data deleted (if it existed) at: secret/data/app/db\n',
    );
    expect(await lab.run(['kv', 'delete', '-versions=1,2', '-versions=4', 'secret/app/db'])).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)?.body).toEqual({ versions: [1, 2, 4] });
    expect((await lab.run(['kv', 'delete', '-versions=one', 'secret/app/db'])).stderr).toContain('Invalid version "one"');
  });

  test.each(['undelete', 'destroy'])('kv %s needs versions', async (verb) => {
    lab.routes[`PUT secret/${verb}/app/db`] = {};
    expect((await lab.run(['kv', verb, 'secret/app/db'])).stderr).toContain('No versions provided');
    expect((await lab.run(['kv', verb, '-versions=3', '-mount=secret', 'app/db'])).stdout).toBe(
      `Success! Data written to: secret/${verb}/app/db\n`,
    );
    expect(lab.seen.at(-1)?.body).toEqual({ versions: [3] });
  });

  test('kv rollback writes the old values if nobody wrote in between', async () => {
    lab.routes['GET secret/data/app/db'] = {
      body: envelope({ data: { data: { a: 'new' }, metadata: { ...versionMetadata, version: 5 } } }),
    };
    lab.routes['GET secret/data/app/db?version=2'] = {
      body: envelope({ data: { data: { a: 'old' }, metadata: { ...versionMetadata, version: 2 } } }),
    };
    lab.routes['PUT secret/data/app/db'] = metadataAnswer;
    expect(await lab.run(['kv', 'rollback', '-version=2', 'secret/app/db'])).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)?.body).toEqual({ data: { a: 'old' }, options: { cas: 5 } });
    expect(await lab.run(['kv', 'rollback', '-version=3', 'secret/app/db'])).toMatchObject({ code: 2 });
    expect(await lab.run(['kv', 'rollback', 'secret/app/db'])).toMatchObject({ code: 1 });
  });

  test('kv subkeys prints names without values', async () => {
    const answer = envelope({ data: { metadata: versionMetadata, subkeys: { user: null, deep: { er: null } } } });
    lab.routes['GET secret/subkeys/app/db?depth=2'] = { body: answer };
    expect((await lab.run(['kv', 'subkeys', '-depth=2', 'secret/app/db'])).stdout).toContain('deep.er    <nil>\nuser       <nil>');
  });

  test('kv enable-versioning tunes the mount', async () => {
    lab.routes['POST sys/mounts/old/tune'] = {};
    expect((await lab.run(['kv', 'enable-versioning', 'old'])).stdout).toBe('Success! Tuned the secrets engine at: old/\n');
    expect(lab.seen.at(-1)?.body).toEqual({ options: { version: '2' } });
  });
});

describe('kv metadata', () => {
  test('get prints the settings, then each version in order', async () => {
    const versions = Object.fromEntries(
      ['10', '2'].map((n) => [n, { created_time: `2026-01-${n.padStart(2, '0')}`, deletion_time: '', destroyed: false }]),
    );
    lab.routes['GET secret/metadata/app/db'] = { body: envelope({ data: { cas_required: false, max_versions: 0, versions } }) };
    const { stdout } = await lab.run(['kv', 'metadata', 'get', 'secret/app/db']);
    expect(stdout).toContain('Metadata Path');
    expect(stdout).toContain('cas_required    false');
    expect(stdout.indexOf('Version 2 ')).toBeGreaterThan(0);
    expect(stdout.indexOf('Version 10 ')).toBeGreaterThan(stdout.indexOf('Version 2 '));
  });

  test('put sends what was given and nothing else', async () => {
    lab.routes['PUT secret/metadata/app/db'] = {};
    const words = ['-max-versions=0', '-cas-required=false', '-delete-version-after=36h', '-custom-metadata=owner=a', 'secret/app/db'];
    expect((await lab.run(['kv', 'metadata', 'put', ...words])).stdout).toBe('Success! Data written to: secret/metadata/app/db\n');
    expect(lab.seen.at(-1)?.body).toEqual({
      max_versions: 0,
      cas_required: false,
      delete_version_after: '36h',
      custom_metadata: { owner: 'a' },
    });
    await lab.run(['kv', 'metadata', 'put', 'secret/app/db']);
    expect(lab.seen.at(-1)?.body).toEqual({});
  });

  test('patch adds and removes words', async () => {
    lab.routes['PATCH secret/metadata/app/db'] = {};
    await lab.run(['kv', 'metadata', 'patch', '-custom-metadata=a=1', '-remove-custom-metadata=b', 'secret/app/db']);
    expect(lab.seen.at(-1)?.body).toEqual({ custom_metadata: { a: '1', b: null } });
    expect(await lab.run(['kv', 'metadata', 'patch', 'secret/app/db'])).toMatchObject({ code: 1 });
  });

  test('delete removes the key for good', async () => {
    lab.routes['DELETE secret/metadata/app/db'] = {};
    expect((await lab.run(['kv', 'metadata', 'delete', 'secret/app/db'])).stdout).toBe(
      'Success! Data deleted (if it existed) at: secret/metadata/app/db\n',
    );
  });
});
