import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kvEngine } from '@strongroom/kv';
import { syncEngine } from '@strongroom/sync';
import { memoryDestination, MemoryProvider } from '@strongroom/sync-testkit';
import { runCli } from '../src/index.ts';
import { cliLab, denied } from './fake-server.ts';
import { testServer, type TestServer } from './import/import-target.ts';

let server: TestServer;
let provider: MemoryProvider;

/** Runs the command line against a real server. */
async function cli(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const said = { stdout: '', stderr: '' };
  const into = (name: keyof typeof said): Writable =>
    new Writable({ write: (chunk: Buffer, _encoding, done) => void ((said[name] += chunk.toString()), done()) });
  const code = await runCli(words, {
    env: { STRONGROOM_ADDR: server.address, STRONGROOM_TOKEN: 'root', HOME: '/nonexistent' },
    stdin: Readable.from([Buffer.from('memory-token')]),
    ...{ stdout: into('stdout'), stderr: into('stderr'), isTty: false },
  });
  return { code, ...said };
}

beforeAll(async () => {
  provider = new MemoryProvider({});
  server = await testServer([syncEngine, memoryDestination(provider) as never, kvEngine]);
  await server.write('sys/mounts/kv', { type: 'kv', options: { version: '2' } });
  await server.write('kv/data/app/db', { data: { password: 'planted' } });
});
afterAll(async () => server.close());

describe('strongroom sync', () => {
  test('says in a sentence that there is nothing yet', async () => {
    expect((await cli('sync', 'destinations', 'list')).stdout).toBe('There are no destinations.\n');
    expect((await cli('sync', 'associations', 'list')).stdout).toBe('No secret is linked with a destination.\n');
    expect(await cli('sync', 'destinations', 'read', 'memory/one')).toMatchObject({
      code: 2,
      stderr: 'There is no destination memory/one\n',
    });
  });

  test('writes a destination, links a secret, shows how its copy stands, and removes both', async () => {
    const settings = ['disable_strict_networking=true', 'secret_name_template=app/{{ .SecretPath }}'];
    expect((await cli('sync', 'destinations', 'write', 'memory/one', 'access_token=-', ...settings)).stdout).toBe(
      'Success! Wrote the destination: memory/one\n',
    );
    expect((await cli('sync', 'destinations', 'list')).stdout).toBe('Type      Name\n----      ----\nmemory    one\n');
    expect((await cli('sync', 'destinations', 'list', 'memory')).stdout).toBe('Keys\n----\none\n');
    const read = (await cli('sync', 'destinations', 'read', 'memory/one')).stdout;
    expect(read).toMatch(/^connection_details\.access_token +\*{5}$/m);
    expect(read).toMatch(/^options\.secret_name_template +app\/\{\{ \.SecretPath \}\}$/m);

    const set = await cli('sync', 'associations', 'set', '-wait=5s', 'memory/one', 'kv/', 'app/db');
    expect(set.stdout).toMatch(/^Mount +Secret +Key +Remote Name +Status +Updated +Last Error$/m);
    expect(set.stdout).toMatch(/^kv +app\/db +n\/a +app\/app\/db +SYNCED /m);
    expect((await cli('sync', 'associations', 'list', 'memory/one')).stdout).toMatch(/^kv +app\/db /m);
    expect((await cli('sync', 'associations', 'list')).stdout).toBe('Mount    Secret\n-----    ------\nkv/      app/db\n');
    expect((await cli('sync', 'associations', 'status', 'kv/', 'app/db')).stdout).toMatch(/^memory +one +n\/a +SYNCED /m);
    expect(JSON.parse((await cli('sync', 'associations', 'status', '-format=json', 'kv/', 'app/db')).stdout)).toHaveProperty(
      'associated_destinations.memory/one.sync_status',
      'SYNCED',
    );
    expect((await cli('sync', 'destinations', 'test', '-write', 'memory/one')).stdout).toMatch(
      /^Step +Result +Milliseconds +Error\n[- ]+\nsettings +ok +\d+ +n\/a\nreach +ok .*\nlogin +ok .*\nwrite +ok .*\nread back +ok .*\nremove +ok .*\n$/,
    );
    const other = await cli('sync', 'destinations', 'test', 'memory/one', 'access_token=another');
    expect(other).toMatchObject({ code: 2, stdout: expect.stringMatching(/^login +failed +\d+ +\S/m) });
    expect((await cli('sync', 'destinations', 'test', 'memory/nobody')).stderr).toContain('There is no destination memory/nobody');
    expect((await cli('sync', 'destinations', 'plan', 'memory/one')).stdout).toBe(
      'memory/one answers. 1 copy is in sync; nothing differs.\n',
    );
    expect(await cli('sync', 'destinations', 'delete', 'memory/one')).toMatchObject({ code: 2 });
    expect((await cli('sync', 'associations', 'remove', 'memory/one', 'kv/', 'app/db')).stdout).toMatch(/UNSYNCED/);
    expect((await cli('sync', 'destinations', 'delete', 'memory/one')).stdout).toBe('Success! Deleted the destination: memory/one\n');
  });

  test('names what differs outside with exit code 2, and repairs it', async () => {
    const settings = ['access_token=-', 'disable_strict_networking=true', 'secret_name_template=app/{{ .SecretPath }}'];
    await cli('sync', 'destinations', 'write', 'memory/one', ...settings);
    await cli('sync', 'associations', 'set', 'memory/one', 'kv/', 'app/db');
    provider.drop('app/app/db');
    const found = await cli('sync', 'destinations', 'plan', 'memory/one');
    expect(found.code).toBe(2);
    expect(found.stdout).toMatch(/^kv +app\/db +n\/a +app\/app\/db +to create$/m);
    expect((await cli('sync', 'destinations', 'reconcile', 'memory/one')).stdout).toBe('Success! Queued 1 copy, and removed 0 orphans.\n');
    expect((await cli('sync', 'destinations', 'delete', '-force', 'memory/one')).stderr).toContain('left outside');
  });

  test('shows what a rule would link, links it without what it excludes, and names the rules', async () => {
    for (const name of ['team/a', 'team/b', 'team/private/c', 'team/x,y']) await server.write(`kv/data/${name}`, { data: { v: name } });
    await cli('sync', 'destinations', 'write', 'memory/ruled', 'access_token=-', 'disable_strict_networking=true');
    const set = ['sync', 'associations', 'set'];
    const rule = ['-exclude=team/private/*', '-exclude=team/x,y', 'memory/ruled', 'kv/', 'team/*'];
    const preview = await cli(...set, '-dry-run', ...rule);
    expect(preview).toMatchObject({ code: 0, stderr: '' });
    expect(preview.stdout).toMatch(/^team\/a /m);
    expect(preview.stdout).not.toMatch(/private|x,y/);
    expect((await cli('sync', 'associations', 'list', 'memory/ruled')).stdout).not.toContain('team/a');
    expect(await cli(...set, '-wait=5s', ...rule)).toMatchObject({ code: 0, stderr: '' });
    const copies = (await cli('sync', 'associations', 'list', 'memory/ruled')).stdout;
    expect(['team/a', 'team/b', 'private', 'x,y'].map((name) => copies.includes(name))).toEqual([true, true, false, false]);
    expect((await cli('sync', 'associations', 'rules', 'memory/ruled')).stdout).toMatch(/^kv +team\/\* .*team\/private\/\*/m);
    // A rule that is written again keeps what it leaves out.
    await cli(...set, '-max-secrets=10', 'memory/ruled', 'kv/', 'team/*');
    expect((await cli('sync', 'associations', 'rules', 'memory/ruled')).stdout).toMatch(/team\/private\/\*/);
    expect((await cli(...set, '-exclude=x', 'memory/ruled', 'kv/', 'app/db')).stderr).toContain('exclude belongs to a rule');
  });

  test.each([
    [['sync', 'destinations', 'read', 'one'], '"one" is no destination: give its type and its name, such as aws-sm/production'],
    [['sync', 'destinations', 'delete', '-purge', '-force', 'memory/one'], '-purge and -force exclude each other'],
    [['sync', 'associations', 'set', 'memory/one'], 'Not enough arguments (expected 3, got 1)'],
    [['sync', 'destination'], 'did you mean "destinations"?'],
  ])('%j is refused before anything is sent', async (words, text) => {
    const { code, stderr } = await cli(...words);
    expect(code).toBe(1);
    expect(stderr.toLowerCase()).toContain(text.toLowerCase());
  });

  test('names the types when there is no such type', async () => {
    expect((await cli('sync', 'destinations', 'write', 'aws/one', 'region=x')).stderr).toContain('memory');
  });
});

describe('strongroom schedule', () => {
  test('lists jobs with what they are for, and runs one', async () => {
    await cli('sync', 'destinations', 'write', 'memory/two', 'access_token=-', 'disable_strict_networking=true');
    const list = (await cli('schedule', 'list')).stdout;
    expect(list).toMatch(/^Job +For +Mount +State +Next Attempt +Last Success +Last Error$/m);
    const { jobs } = JSON.parse((await cli('schedule', 'list', '-format=json')).stdout) as {
      jobs: { job: string; mount: string; kind: string; id: string }[];
    };
    expect(jobs.length).toBeGreaterThan(0);
    const [{ job, mount, kind, id }] = jobs as [(typeof jobs)[0]];
    expect(await cli('schedule', 'run', job)).toMatchObject({ code: 0, stdout: expect.stringContaining(`Success! Ran ${job}.`) });
    expect(await cli('schedule', 'retry', mount, kind, id)).toMatchObject({ code: 0 });
    expect((await cli('schedule', 'list', '-failing')).stdout).toBe('No jobs are scheduled.\n');
    expect((await cli('schedule', 'circuits')).stdout).toBe('All circuit breakers are closed.\n');
    expect((await cli('schedule', 'run', 'none')).code).toBe(2);
    expect((await cli('schedule', 'list', '-limit=1', '-format=json')).stdout.match(/"job":/g)).toHaveLength(1);
  });
});

describe('strongroom journal', () => {
  const lab = cliLab();
  const entry = {
    id: 'i1',
    mount: 'database/',
    kind: 'create-user',
    opened: '2026-11-22T10:00:00.000Z',
    attempts: 3,
    next_attempt: '2026-11-22T10:05:00.000Z',
    last_error: { message: 'connection\n  refused', at: '2026-11-22T10:04:00.000Z' },
    failing_since: '2026-11-22T10:00:01.000Z',
    system: { target: 'pg', name: 'connection pg' },
    leaves: { kind: 'database user', name: 'v-app-1', system: 'pg' },
    tries: [],
  };

  test('lists unfinished changes in a row each, and says when there are none', async () => {
    expect((await cli('journal', 'list')).stdout).toBe('The journal is empty.\n');
    lab.routes['GET sys/journal?failing=true&mount=database%2F'] = { body: { request_id: 'r', data: { intents: [entry] } } };
    const { stdout } = await lab.run(['journal', 'list', '-failing', '-mount=database/']);
    expect(stdout).toMatch(/^i1 +database\/ +create-user .* 3 +2026-11-22T10:05:00.000Z +database user v-app-1 +connection refused$/m);
  });

  test('reads, retries and forgets one, and prints what is left outside', async () => {
    lab.routes['GET sys/journal/i1'] = { body: { request_id: 'r', data: entry } };
    expect((await lab.run(['journal', 'read', 'i1'])).stdout).toMatch(/^last_error\.at +2026/m);
    lab.routes['PUT sys/journal/i1/retry'] = {};
    expect((await lab.run(['journal', 'retry', 'i1'])).stdout).toBe('Success! Finished: i1\n');
    lab.routes['DELETE sys/journal/i1'] = {
      body: { request_id: 'r', data: { left_outside: [entry.leaves] }, warnings: ['1 thing stays outside'] },
    };
    const { stdout, stderr } = await lab.run(['journal', 'forget', 'i1']);
    expect(stdout).toContain('database user    v-app-1    pg');
    expect(stderr).toContain('1 thing stays outside');
    expect(await cli('journal', 'read', 'none')).toMatchObject({ code: 2, stderr: 'The journal has no entry none\n' });
    lab.routes['GET sys/journal'] = denied();
    expect((await lab.run(['journal', 'list'])).code).toBe(2);
  });
});
