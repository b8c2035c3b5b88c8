import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { runCli } from '../../src/index.ts';
import { importFrom, reportOf, testServer, type TestServer } from './import-target.ts';
import { servedSource, type ServedSource } from './served-source.ts';

/** Of "bobs-planted-pw", as the source stores it. */
const HASH = '$2b$10$DQO9sfm7YiDLc0WjG4OaEO7xe/mpCHxkAiVYVyagipa9fs/8qCuuO';
const USERPASS = '-include=auth/userpass/';

let source: ServedSource;
let target: TestServer;
let folder: string;

beforeAll(async () => {
  [source, target] = await Promise.all([servedSource(), testServer()]);
  folder = await mkdtemp(join(tmpdir(), 'strongroom-import-'));
});
afterAll(async () => {
  await Promise.all([source.close(), target.close(), rm(folder, { recursive: true })]);
});
beforeEach(() => (source.intercept = undefined));

async function secretsFile(values: object): Promise<string> {
  const file = join(folder, 'secrets.json');
  await writeFile(file, JSON.stringify(values), { mode: 0o600 });
  return `-secrets=${file}`;
}

async function login(path: string, password: string): Promise<number> {
  const data = { password };
  return (await target.core.handle({ operation: 'update', path, data, remoteAddress: '127.0.0.1' })).status;
}

/** Runs a command of a report as a shell would, with a secret on standard input. */
async function runCommand(line: string): Promise<{ code: number; stderr: string }> {
  const words = [...line.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(
    ([, quoted, bare]) => bare ?? quoted!.replaceAll(String.raw`'\''`, "'"),
  );
  let stderr = '';
  const code = await runCli(words.slice(1), {
    env: { STRONGROOM_ADDR: target.address, STRONGROOM_TOKEN: 'root', HOME: folder },
    stdin: Readable.from([Buffer.from('a-planted-secret-of-the-operator')]),
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stderr: new Writable({ write: (chunk: Buffer, _encoding, done) => void ((stderr += chunk.toString()), done()) }),
    isTty: false,
  });
  return { code, stderr };
}

describe('-raw', () => {
  test('is refused before anything is read where the source does not serve its store', async () => {
    const { code, stderr } = await importFrom(source, target, ['-raw', USERPASS]);
    expect(code).toBe(1);
    expect(stderr).toContain('set raw_storage_endpoint = true');
    source.intercept = (_, path) => (path.startsWith('sys/raw') ? { status: 403, body: { errors: ['permission denied'] } } : undefined);
    expect((await importFrom(source, target, ['-raw', USERPASS])).stderr).toContain('may not list sys/raw');
    expect((await importFrom(source, target, ['-raw', '-source-namespace=team'])).stderr).toContain('exclude each other');
  });

  test('brings passwords of people as hashes, and the secrets of connections', async () => {
    const uuid = (mounts: string, path: string): string => (source.data(mounts)[path] as { uuid: string }).uuid;
    const stored = (value: object): object => ({ value: JSON.stringify(value) });
    source.set('sys/raw/core?list=true', { keys: ['mounts'] });
    source.set(`sys/raw/auth/${uuid('sys/auth', 'userpass/')}/user/bob`, stored({ PasswordHash: Buffer.from(HASH).toString('base64') }));
    source.set(`sys/raw/auth/${uuid('sys/auth', 'corp/')}/config`, stored({ binddn: 'cn=admin', bindpass: 'raw-planted-bind' }));
    source.set(
      `sys/raw/logical/${uuid('sys/mounts', 'database/')}/config/pg`,
      stored({ plugin_name: 'x', connection_details: { username: 'postgres', password: 'raw-planted-pg' } }),
    );
    const options = await secretsFile({ 'database/config/pg': { verify_connection: false } });
    const words = ['-raw', USERPASS, '-include=auth/corp/', '-include=database/config/', options];
    const plan = await importFrom(source, target, words);
    expect(plan.stdout).not.toContain('planted');
    const report = await reportOf(source, target, [...words, '-apply', '-verify=all']);
    expect(report.of('needs-secret')).toEqual([]);
    expect(report.of('failed')).toEqual([]);
    expect(JSON.stringify(report)).not.toMatch(/planted|\$2b/);
    expect(await login('auth/userpass/login/bob', 'bobs-planted-pw')).toBe(200);
    expect(await login('auth/userpass/login/bob', 'wrong')).toBe(400);
    expect((await reportOf(source, target, [...words, '-apply'])).totals).toMatchObject({ imported: 0, changed: 0, conflict: 0 });
  });

  test('needs a secret where the store has a record that it does not know', async () => {
    const { uuid } = source.data('sys/auth')['userpass/'] as { uuid: string };
    await target.write('auth/userpass/users/bob', { password: 'another-password' });
    await target.core.handle({ operation: 'delete', path: 'auth/userpass/users/bob', token: 'root', remoteAddress: '127.0.0.1' });
    for (const value of [{ PasswordHash: 'bm9uZQ==' }, { password_v9: 'x' }, ['x']]) {
      source.set(`sys/raw/auth/${uuid}/user/bob`, { value: JSON.stringify(value) });
      expect((await reportOf(source, target, ['-raw', USERPASS])).of('needs-secret')).toEqual(['auth/userpass/users/bob']);
    }
    source.set(`sys/raw/auth/${uuid}/user/bob`, { value: 'not JSON' });
    expect((await reportOf(source, target, ['-raw', USERPASS])).of('needs-secret')).toEqual(['auth/userpass/users/bob']);
  });
});

describe('a secret of the file', () => {
  test('that is new is written by a later run, and one that is not is not', async () => {
    const first = await secretsFile({ 'auth/userpass/users/bob': { password: 'first-planted-pw' } });
    expect((await reportOf(source, target, ['-apply', first, USERPASS])).of('imported')).toEqual(['auth/userpass/users/bob']);
    expect((await reportOf(source, target, ['-apply', first, USERPASS])).of('same')).toContain('auth/userpass/users/bob');
    const second = await secretsFile({ 'auth/userpass/users/bob': { password: 'second-planted-pw' } });
    expect((await reportOf(source, target, [second, USERPASS])).of('changed')).toEqual(['auth/userpass/users/bob']);
    expect(await login('auth/userpass/login/bob', 'first-planted-pw')).toBe(200);
    const report = await reportOf(source, target, ['-apply', second, USERPASS]);
    expect(report.line('auth/userpass/users/bob')).toMatchObject({
      outcome: 'changed',
      why: 'its secrets in the file of -secrets are new',
    });
    expect(await login('auth/userpass/login/bob', 'second-planted-pw')).toBe(200);
    expect((await reportOf(source, target, ['-apply', second, USERPASS])).of('same')).toContain('auth/userpass/users/bob');
  });

  test('is not written over what was changed here, which is a conflict until -on-conflict=replace', async () => {
    await target.write('auth/userpass/users/bob', { token_ttl: 60 });
    const third = await secretsFile({ 'auth/userpass/users/bob': { password: 'third-planted-pw' } });
    expect((await reportOf(source, target, ['-apply', third, USERPASS])).of('conflict')).toEqual(['auth/userpass/users/bob']);
    expect(await login('auth/userpass/login/bob', 'second-planted-pw')).toBe(200);
    await reportOf(source, target, ['-apply', third, USERPASS, '-on-conflict=replace']);
    expect(await login('auth/userpass/login/bob', 'third-planted-pw')).toBe(200);
  });
});

describe('the commands of a report', () => {
  test('run as they are printed', async () => {
    source.set('sys/audit', { 'file/': { type: 'file', options: { file_path: join(folder, 'audit.log'), log_raw: 'false' } } });
    source.set('dir/library?list=true', { keys: ['team'] });
    source.set('dir/library/team', { service_account_names: ["o'brien@example.com", 'a b@example.com'], ttl: 3600, max_ttl: 7200 });
    await target.core.handle({ operation: 'delete', path: 'database/config/pg', token: 'root', remoteAddress: '127.0.0.1' });
    const report = await reportOf(source, target, ['-apply', '-exclude=kind=kv', '-verify=0']);
    const lines = report.objects.flatMap(({ command, path }) => (command === undefined ? [] : [{ command, path }]));
    expect(lines.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'auth/approle/role/web/secret-id',
        'database/config/pg',
        'dir/config',
        'dir/library/team',
        'sys/audit/file/',
      ]),
    );
    const outcomes: Record<string, string> = {};
    // Settings of a directory come before the accounts in it, as in the report.
    for (const { command, path } of lines) {
      if (path === 'identity/mfa/method') continue;
      const { code, stderr } = await runCommand(command);
      outcomes[path] = code === 0 ? 'done' : stderr;
    }
    const failed = Object.entries(outcomes).filter(([, outcome]) => outcome !== 'done');
    // The command is right; the database and the directory of the recorded source are not there.
    expect(failed.filter(([, text]) => !/connection|connect|directory|LDAP/i.test(text))).toEqual([]);
    expect(failed.length).toBeLessThan(lines.length);
  });
});
