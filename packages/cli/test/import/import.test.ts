import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { importFrom, reportOf, testServer, type ImportReport, type TestServer } from './import-target.ts';
import { servedSource, type ServedSource } from './served-source.ts';

const SOURCE_ID = '334055b3-55ae-0451-739b-abb595668b19';
/** Every secret that the recorded source holds has this in it, or is one of the tokens and ids below. */
const PLANTED = /planted|hvo_secret_/;

let source: ServedSource;
let target: TestServer;
let folder: string;
let secrets: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strongroom-import-'));
  secrets = join(folder, 'secrets.json');
  const values = {
    'database/config/pg': { password: 'planted-rootpw', verify_connection: false },
    'dir/config': { bindpass: 'planted-dir' },
    'auth/corp/config': { bindpass: 'planted-bind' },
    'auth/userpass/users/bob': { password: 'bobs-planted-pw' },
  };
  await writeFile(secrets, JSON.stringify(values), { mode: 0o600 });
});
afterAll(async () => rm(folder, { recursive: true }));
const start = async (): Promise<void> => {
  [source, target] = await Promise.all([servedSource(), testServer()]);
};
const stop = async (): Promise<void> => {
  await Promise.all([source.close(), target.close()]);
};

const apply = async (...words: string[]) => reportOf(source, target, ['-apply', `-secrets=${secrets}`, ...words]);
/** Enough for what an import does when it runs again. */
const SOME = ['-include=kind=kv', '-include=kind=policies', '-exclude=sys/policies/acl/app'];
const newName = async (path: string) => (await target.read(path))?.['name'];

describe('an import of a recorded server', () => {
  let report: ImportReport;
  beforeAll(start);
  afterAll(stop);

  test('plans by default: it reads everything and writes nothing', async () => {
    const before = await target.list('sys/policies/acl');
    const { code, stdout } = await importFrom(source, target, []);
    expect(code).toBe(3);
    expect(stdout).toContain('nothing was written');
    expect(await target.list('sys/policies/acl')).toEqual(before);
    expect(await target.read('sys/mounts/secret').catch(() => undefined)).toBeUndefined();
    expect(await target.list('sys/import')).toEqual([]);
    expect(source.calls.filter((call) => !call.startsWith('GET'))).toEqual([]);
    expect(source.calls).toContain('GET secret/data/app/db?version=5');
  });

  test('brings everything, and reads all of it again on both sides', async () => {
    report = await apply('-verify=all');
    expect(report.of('failed')).toEqual([]);
    expect(report.of('conflict')).toEqual([]);
    expect(report.of('needs-secret')).toEqual([]);
    expect(report.code).toBe(3);
    expect(report.verified?.different).toEqual([]);
    expect(report.verified?.checked).toBe(report.totals['imported']! + report.totals['same']!);
    expect(report.of('not-carriable').sort()).toEqual([
      'auth/approle/role/web/secret-id',
      'auth/radius/',
      'identity/mfa/method',
      'pki/',
      'sys/policies/acl/default',
      'team/',
      'transit/',
    ]);
  });

  test('carries key-value secrets without any loss: numbers, times, deletions and metadata', async () => {
    const there = source.data('secret/metadata/app/db');
    expect(await target.read('secret/metadata/app/db')).toEqual(there);
    const versions = there['versions'] as Record<string, { destroyed: boolean; deletion_time: string }>;
    expect(Object.values(versions).map(({ destroyed }) => destroyed)).toContain(true);
    expect((await target.read('secret/data/app/db', { version: 5 }))!['data']).toEqual({ password: 'pw-5-planted', user: 'app' });
    expect(await target.read('secret/metadata/empty')).toEqual(source.data('secret/metadata/empty'));
    expect(await target.read('secret/config')).toMatchObject({ max_versions: 12, delete_version_after: '720h0m0s' });
    const answer = await fetch(`${target.address}/v1/old/nums`, { headers: { 'X-Vault-Token': 'root' } });
    expect(await answer.text()).toContain('"data":{"f":1.50,"n":12345678901234567890,"o":{"l":[1,null,true]}}');
  });

  test('gives policies, aliases, templates and enforcements the accessors of this server', async () => {
    const here = (await target.read('sys/auth'))!['corp/'] as { accessor: string };
    const there = (source.data('sys/auth')['corp/'] as { accessor: string }).accessor;
    expect((await target.read('sys/policies/acl/app'))!['policy']).toContain(`aliases.${here.accessor}.name`);
    expect(report.line('sys/policies/acl/app').diff!.join('\n')).toContain(
      `+ path "secret/data/app/{{identity.entity.aliases.${here.accessor}`,
    );
    expect((await target.read('identity/oidc/role/r1'))!['template']).toContain(here.accessor);
    expect((await target.read('identity/mfa/login-enforcement/mfa1'))!['auth_method_accessors']).toEqual([here.accessor]);
    const [entity] = await target.list('identity/entity/id');
    expect(await target.read(`identity/entity/id/${entity}`)).toMatchObject({
      name: 'ann',
      aliases: [{ name: 'ann', mount_accessor: here.accessor }],
    });
    expect(JSON.stringify(await target.read('sys/policies/acl/app'))).not.toContain(there);
  });

  test('keeps the ids of entities, groups, methods and clients', async () => {
    for (const kind of ['identity/entity/id', 'identity/group/id', 'identity/mfa/method'])
      expect((await target.list(kind)).sort()).toEqual((source.data(`${kind}?list=true`)['keys'] as string[]).sort());
    const client = source.data('identity/oidc/client/web');
    expect(await target.read('identity/oidc/client/web')).toMatchObject({
      client_id: client['client_id'],
      client_secret: client['client_secret'],
    });
    expect((await target.read('auth/approle/role/web/role-id'))!['role_id']).toBe('web-role-id');
    const [inner] = await target.list('identity/group/id');
    expect(await newName(`identity/group/id/${inner}`)).toBeDefined();
  });

  test('carries the tuning of mounts, roles of tokens, quotas, headers and CORS', async () => {
    const mounts = (await target.read('sys/mounts'))!;
    expect(mounts['secret/']).toMatchObject({ description: 'Application secrets', config: { max_lease_ttl: 172_800 } });
    expect((await target.read('sys/auth'))!['corp/']).toMatchObject({
      type: 'ldap',
      description: 'Corporate directory',
      config: { default_lease_ttl: 1800 },
    });
    expect(await target.read('auth/token/roles/ci')).toMatchObject({ allowed_policies: ['app'], token_period: 7200, orphan: true });
    expect(await target.read('sys/quotas/rate-limit/slow')).toMatchObject({ path: 'secret/', rate: 5000 });
    expect(await target.read('sys/config/cors')).toMatchObject({ enabled: true, allowed_origins: ['https://a.example'] });
    expect(await target.read('database/roles/ro')).toMatchObject({ db_name: 'pg', default_ttl: 3600 });
    expect(await target.read('auth/jwt/role/dev')).toMatchObject({ bound_claims: { team: ['a', 'b'] }, user_claim: 'sub' });
  });

  test('reports engines that this server does not have, with their roles', async () => {
    const { settings, why } = report.line('pki/');
    expect(why).toBe('this server has no engine of type pki');
    expect(settings).toMatchObject({ 'roles/web': { allowed_domains: ['example.com'] } });
  });
});

describe('secrets', () => {
  beforeEach(start);
  afterEach(stop);

  test('that the source does not show are named, with the command that brings it', async () => {
    const report = await reportOf(source, target, ['-apply', '-include=auth/userpass/', '-include=database/config/']);
    expect(report.of('needs-secret').sort()).toEqual(['auth/userpass/users/bob', 'database/config/pg']);
    const { why, command } = report.line('auth/userpass/users/bob');
    expect(why).toContain('does not show password');
    expect(command).toMatch(/^strongroom write auth\/userpass\/users\/bob .*token_policies=app .*password=-$/);
    expect((await apply('-include=auth/userpass/')).of('imported')).toContain('auth/userpass/users/bob');
  });

  test('are neither in the report nor in the checkpoint nor in the record', async () => {
    const [file, checkpoint] = [join(folder, 'report.json'), join(folder, 'checkpoint')];
    let written = '';
    source.intercept = (_, path) => {
      // Near the end of the import: stopped there, it leaves its checkpoint.
      if (path === 'sys/namespaces?list=true') return { status: 200, text: '<html>' };
      return undefined;
    };
    const run = await importFrom(source, target, [
      '-apply',
      `-secrets=${secrets}`,
      `-checkpoint=${checkpoint}`,
      `-report=${file}`,
      '-format=json',
    ]);
    written += run.stdout + run.stderr + (await readFile(file, 'utf8')) + (await readFile(checkpoint, 'utf8'));
    expect(run.code).toBe(1);
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect((await stat(checkpoint)).mode & 0o077).toBe(0);
    const names = await target.list(`sys/import/${SOURCE_ID}`);
    expect(names).toContain('secret secret/app/db');
    written += JSON.stringify([names, await target.read(`sys/import/${SOURCE_ID}`)]);
    expect(written).not.toMatch(PLANTED);
    expect((await importFrom(source, target, [])).stdout).not.toMatch(PLANTED);
  });
});

describe('an import that runs again', () => {
  beforeEach(start);
  afterEach(stop);

  test('brings nothing', async () => {
    const first = await apply();
    const metadata = await target.read('secret/metadata/app/db');
    source.calls.length = 0;
    const second = await apply('-verify=0');
    expect(second.totals).toMatchObject({ imported: 0, changed: 0, same: first.totals['imported']! + first.totals['same']!, conflict: 0 });
    expect(await target.read('secret/metadata/app/db')).toEqual(metadata);
    expect(source.calls).not.toContain('GET secret/data/bulk/0/s5?version=1');
  });

  test('brings what is new, and what changed at the source alone', async () => {
    await apply(...SOME);
    source.set('old/a', { x: '2' });
    source.set('sys/policies/acl/jsonp', { name: 'jsonp', policy: 'path "a" { capabilities = ["read"] }' });
    const there = source.data('secret/metadata/bulk/2/s2');
    const added = { created_time: '2027-01-01T00:00:00.5Z', deletion_time: '', destroyed: false };
    source.set('secret/metadata/bulk/2/s2', { ...there, current_version: 2, versions: { ...(there['versions'] as object), '2': added } });
    source.set('secret/data/bulk/2/s2?version=2', { data: { v: 'new' } });
    const report = await apply(...SOME);
    expect(report.of('changed').sort()).toEqual(['old/a', 'secret/bulk/2/s2', 'sys/policies/acl/jsonp']);
    expect(await target.read('old/a')).toEqual({ x: '2' });
    expect(await target.read('secret/data/bulk/2/s2')).toMatchObject({ data: { v: 'new' }, metadata: { version: 2 } });
  });

  test('keeps what was changed here alone, and reports as conflict what was changed on both sides', async () => {
    await apply(...SOME);
    await target.write('old/a', { x: 'here' });
    await target.write('old/deep/er/b', { v: 'here' });
    await target.write('secret/data/bulk/2/s2', { data: { v: 'here' } });
    source.set('old/a', { x: 'there' });
    source.set('secret/metadata/bulk/2/s2', { ...source.data('secret/metadata/bulk/2/s2'), custom_metadata: { a: 'b' } });
    const report = await apply(...SOME);
    expect(report.code).toBe(2);
    expect(report.of('conflict').sort()).toEqual(['old/a', 'secret/bulk/2/s2']);
    expect(report.line('old/deep/er/b')).toMatchObject({ outcome: 'same', why: 'was changed here since it came; that is kept' });
    expect(await target.read('old/a')).toEqual({ x: 'here' });
  });

  test('replaces with -on-conflict=replace, and stops with -on-conflict=fail', async () => {
    await target.write('sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    await target.write('secret/data/app/db', { data: { own: true } });
    const stopped = await apply('-include=secret/app/', '-on-conflict=fail');
    expect(stopped.code).toBe(2);
    expect(stopped.stopped).toContain('is in conflict');
    const replaced = await apply('-include=secret/app/', '-on-conflict=replace', '-verify=all');
    expect(replaced.line('secret/app/db')).toMatchObject({ outcome: 'changed', why: 'what was here is replaced' });
    expect(await target.read('secret/metadata/app/db')).toEqual(source.data('secret/metadata/app/db'));
    expect(replaced.code).toBe(0);
  });
});

describe('the choice of what is imported', () => {
  beforeEach(start);
  afterEach(stop);

  test('goes by path and by kind, and an exclusion wins', async () => {
    const kinds = await apply(
      '-include=kind=policies',
      '-include=kind=password-policies',
      '-exclude=sys/policies/acl/jsonp',
      '-exclude=sys/policies/acl/default',
      '-exclude=sys/policies/acl/app',
    );
    expect(kinds.objects.map(({ path }) => path)).toEqual(['sys/policies/password/letters']);
    const paths = await apply('-include=secret/bulk/3/');
    expect(paths.of('imported').every((path) => path === 'secret/' || path.startsWith('secret/bulk/3/'))).toBe(true);
    expect(paths.of('imported').length).toBe(9);
  });

  test('may give mounts other paths, which policies and quotas follow', async () => {
    const report = await apply(
      '-rename=secret/=kv/',
      '-rename=auth/corp/=auth/staff/',
      '-exclude=kind=identity',
      '-exclude=dir/',
      '-exclude=auth/userpass/',
      '-verify=all',
    );
    expect(report.verified?.different).toEqual([]);
    const { policy } = (await target.read('sys/policies/acl/app')) as { policy: string };
    expect(policy).toMatch(/path "kv\/data\/app\//);
    expect(policy).toContain('path "sys/mounts/kv/tune"');
    expect(policy).toContain('path "auth/staff/login/*"');
    expect((await target.read('sys/policies/acl/jsonp'))!['policy']).toContain('"kv/data/json/*"');
    expect(await target.read('kv/metadata/app/db')).toEqual(source.data('secret/metadata/app/db'));
    expect(await target.read('sys/quotas/rate-limit/slow')).toMatchObject({ path: 'kv/' });
    expect(report.line('sys/policies/acl/app').diff!.length).toBeGreaterThanOrEqual(6);
  });

  test('may be the newest versions alone, with their numbers', async () => {
    await apply('-include=secret/app/', '-versions=latest');
    const metadata = (await target.read('secret/metadata/app/db'))!;
    expect(Object.keys(metadata['versions'] as object)).toEqual(['6']);
    expect(metadata['oldest_version']).toBe(6);
    expect((await apply('-include=secret/app/', '-versions=latest')).of('same')).toContain('secret/app/db');
  });

  test('may be the data of deleted versions, which the source undeletes for the read and deletes again', async () => {
    const number = Object.entries(source.data('secret/metadata/bulk/1/s1')['versions'] as object)[0]![0];
    source.intercept = (method, path) => {
      if (method === 'GET' && path === `secret/data/bulk/1/s1?version=${number}`)
        return { status: 200, body: { data: { data: { v: 'back' } } } };
      return method === 'PUT' ? { status: 204, text: '' } : undefined;
    };
    await apply('-include=secret/bulk/1/', '-undelete');
    const changes = source.calls.filter((call) => call.startsWith('PUT'));
    expect(changes).toEqual(['PUT secret/undelete/bulk/1/s1', 'PUT secret/delete/bulk/1/s1']);
    await target.write('secret/undelete/bulk/1/s1', { versions: [Number(number)] });
    expect((await target.read('secret/data/bulk/1/s1'))!['data']).toEqual({ v: 'back' });
  });
});

describe('static roles', () => {
  beforeEach(start);
  afterEach(stop);

  test('are written only with -take-over, because this server changes their passwords at once', async () => {
    source.set('dir/library?list=true', { keys: ['team'] });
    source.set('dir/library/team', {
      service_account_names: ['a@example.com'],
      ttl: 3600,
      max_ttl: 7200,
      disable_check_in_enforcement: false,
    });
    const { outcome, why, command } = (await apply('-include=dir/library/')).line('dir/library/team');
    expect(outcome).toBe('needs-secret');
    expect(why).toContain('-take-over');
    expect(command).toMatch(/^strongroom write dir\/library\/team .*service_account_names=a@example.com/);
    expect(await target.read('dir/library/team')).toBeUndefined();
  });
});

describe('engines that the recorded server did not have', () => {
  beforeEach(start);
  afterEach(stop);

  test('come alike: AWS settings and roles', async () => {
    const like = source.data('sys/mounts')['old/'] as object;
    source.set('sys/mounts', { ...source.data('sys/mounts'), 'cloud/': { ...like, type: 'aws', accessor: 'aws_1', options: null } });
    source.set('cloud/config/root', {
      access_key: 'AKIAEXAMPLE',
      iam_endpoint: 'http://127.0.0.1:1',
      max_retries: -1,
      region: 'us-east-1',
      sts_endpoint: 'http://127.0.0.1:1',
    });
    source.set('cloud/config/lease', { lease: '30m0s', lease_max: '12h0m0s' });
    source.set('cloud/roles?list=true', { keys: ['user', 'assume'] });
    const none = {
      iam_groups: null,
      iam_tags: null,
      permissions_boundary_arn: '',
      policy_arns: null,
      policy_document: '',
      role_arns: null,
      user_path: '',
    };
    const user = {
      ...none,
      credential_type: 'iam_user',
      default_sts_ttl: 0,
      max_sts_ttl: 0,
      policy_arns: ['arn:aws:iam::aws:policy/ReadOnlyAccess'],
      user_path: '/app/',
    };
    source.set('cloud/roles/user', user);
    source.set('cloud/roles/assume', {
      ...none,
      credential_type: 'assumed_role',
      default_sts_ttl: 900,
      max_sts_ttl: 3600,
      role_arns: ['arn:aws:iam::123456789012:role/deploy'],
    });
    expect((await apply('-include=cloud/')).of('needs-secret')).toEqual(['cloud/config/root']);
    const file = join(folder, 'aws.json');
    await writeFile(file, '{"cloud/config/root":{"secret_key":"planted-aws"}}', { mode: 0o600 });
    const report = await reportOf(source, target, ['-apply', '-include=cloud/', `-secrets=${file}`, '-verify=all']);
    expect(report.code).toBe(0);
    expect(report.of('imported')).toEqual(['cloud/config/root']);
    expect(await target.read('cloud/config/root')).toMatchObject({ access_key: 'AKIAEXAMPLE', region: 'us-east-1' });
    expect(await target.read('cloud/config/lease')).toMatchObject({ lease: '30m0s', lease_max: '12h0m0s' });
    expect(await target.read('cloud/roles/assume')).toMatchObject({ credential_type: 'assumed_role', default_sts_ttl: 900 });
  });

  test('come alike: the cluster of a login with service accounts', async () => {
    const certificate = (source.data('auth/cert/certs/host')['certificate'] as string).trim();
    const config = {
      disable_iss_validation: true,
      disable_local_ca_jwt: true,
      issuer: '',
      kubernetes_ca_cert: certificate,
      kubernetes_host: 'https://127.0.0.1:1',
      pem_keys: [],
      token_reviewer_jwt_set: true,
    };
    source.set('auth/kubernetes/config', config);
    expect((await apply('-include=auth/kubernetes/')).line('auth/kubernetes/config')).toMatchObject({ outcome: 'needs-secret' });
    const file = join(folder, 'kubernetes.json');
    await writeFile(file, '{"auth/kubernetes/config":{"token_reviewer_jwt":"planted.jwt.x"}}', { mode: 0o600 });
    const report = await reportOf(source, target, ['-apply', '-include=auth/kubernetes/', `-secrets=${file}`, '-verify=all']);
    expect(report.of('failed')).toEqual([]);
    expect(report.code).toBe(0);
    expect(await target.read('auth/kubernetes/config')).toMatchObject({
      kubernetes_host: 'https://127.0.0.1:1',
      kubernetes_ca_cert: expect.stringContaining(certificate),
    });
  });
});
