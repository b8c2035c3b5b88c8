import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parseWantedSecret } from '../src/exec/wanted-secret.ts';
import { variablesOf } from '../src/exec/variables.ts';
import { cliLab } from './fake-server.ts';
import { envelope } from './fixtures/answers.ts';

const lab = cliLab();
let folder = '';
let seenBy = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strongroom-cli-exec-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  seenBy = join(folder, 'environment.json');
  await rm(seenBy, { force: true });
});

/** A command that writes its environment down, and then does what `rest` says. */
function program(rest = ''): string[] {
  return [process.execPath, '-e', `require('fs').writeFileSync(${JSON.stringify(seenBy)}, JSON.stringify(process.env)); ${rest}`];
}

async function environment(): Promise<Record<string, string>> {
  return JSON.parse(await readFile(seenBy, 'utf8')) as Record<string, string>;
}

/** A secret with a lease, as a database answers. */
function leased(password: string, renewable = true): { body: unknown } {
  const id = `database/creds/app/${password}`;
  return { body: { ...envelope({ data: { username: 'u', password } }), lease_id: id, lease_duration: 60, renewable } };
}

const untilOver = (_: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));

describe('exec', () => {
  test('sets a variable for each field of a secret of kv 2, and answers the exit code of the command', async () => {
    lab.routes['GET sys/internal/ui/mounts/secret/app'] = { body: envelope({ data: { path: 'secret/', options: { version: '2' } } }) };
    lab.routes['GET secret/data/app'] = {
      body: envelope({ data: { data: { 'db-password': 'p w', port: 5432, '2fa': true, nested: { a: [1] } }, metadata: {} } }),
    };
    const { code, stderr } = await lab.run(['exec', '-secret=secret/app', '-prefix=APP_', '--', ...program('process.exit(7)')]);
    expect([code, stderr]).toEqual([7, '']);
    expect(await environment()).toMatchObject({ APP_DB_PASSWORD: 'p w', APP_PORT: '5432', APP__2FA: 'true', APP_NESTED: '{"a":[1]}' });
  });

  test('keeps the token from the command, unless it is to be passed', async () => {
    lab.routes['GET kv/app'] = { body: envelope({ data: { a: 'b' } }) };
    const env = { VAULT_TOKEN: 's.OTHER', KEPT: 'yes' };
    await lab.run(['exec', '-secret=kv/app', '--', ...program()], { env });
    const without = await environment();
    expect([without['KEPT'], without['STRONGROOM_TOKEN'], without['VAULT_TOKEN']]).toEqual(['yes', undefined, undefined]);
    await lab.run(['exec', '-secret=kv/app', '-pass-token', '--', ...program()], { env });
    expect(await environment()).toMatchObject({ STRONGROOM_TOKEN: 's.OWN', VAULT_TOKEN: 's.OTHER' });
  });

  test('makes one credential for all fields of a path, and revokes its lease when the command has ended', async () => {
    lab.routes['GET database/creds/app'] = leased('one');
    lab.routes['PUT sys/leases/revoke'] = {};
    const secrets = ['-secret=PGUSER=database/creds/app#username', '-secret=PGPASSWORD=database/creds/app#password'];
    expect((await lab.run(['exec', ...secrets, '--', ...program()], { sleep: untilOver })).code).toBe(0);
    expect(await environment()).toMatchObject({ PGUSER: 'u', PGPASSWORD: 'one' });
    expect(lab.seen.filter(({ path }) => path === 'database/creds/app')).toHaveLength(1);
    expect(lab.seen.at(-1)).toMatchObject({ method: 'PUT', path: 'sys/leases/revoke', body: { lease_id: 'database/creds/app/one' } });
  });

  test('leaves the leases alone on request', async () => {
    lab.routes['GET database/creds/app'] = leased('one');
    await lab.run(['exec', '-secret=database/creds/app', '-keep-leases', '--', ...program()], { sleep: untilOver });
    expect(lab.seen.some(({ path }) => path === 'sys/leases/revoke')).toBe(false);
  });

  test('renews a lease after two thirds of it, and warns once when the server grants no more', async () => {
    lab.routes['GET database/creds/app'] = leased('one');
    lab.routes['PUT sys/leases/renew'] = [
      { body: { ...envelope({}), lease_id: 'database/creds/app/one', lease_duration: 60, renewable: true } },
      { body: { ...envelope({}), lease_id: 'database/creds/app/one', lease_duration: 10, renewable: true } },
    ];
    lab.routes['PUT sys/leases/revoke'] = {};
    const done = join(folder, 'done');
    let sleeps = 0;
    const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
      sleeps += 1;
      if (sleeps <= 3) return;
      await untilOver(milliseconds, signal);
    };
    const waits = `const t = setInterval(() => { if (require('fs').existsSync(${JSON.stringify(done)})) clearInterval(t); }, 5)`;
    const running = lab.run(['exec', '-secret=database/creds/app', '--', ...program(waits)], { sleep });
    while (lab.seen.filter(({ path }) => path === 'sys/leases/renew').length < 2) await new Promise(setImmediate);
    await writeFile(done, '');
    const { code, stderr } = await running;
    expect(code).toBe(0);
    expect(lab.pauses.slice(0, 3)).toEqual([40_000, 40_000, 8_000]);
    expect(stderr).toContain('The server extends the lease of database/creds/app no further: it ends in 10s.');
  });

  test('restarts the command with new secrets when a lease ends', async () => {
    lab.routes['GET database/creds/app'] = [leased('one', false), leased('two', false)];
    lab.routes['PUT sys/leases/revoke'] = {};
    let readings = 0;
    const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
      readings += 1;
      if (readings > 1) await untilOver(milliseconds, signal);
    };
    const stays = "if (process.env.PASSWORD === 'one') setInterval(() => {}, 1000); else process.exit(4)";
    const words = ['exec', '-secret=database/creds/app', '-on-expiry=restart', '--', ...program(stays)];
    const { code, stderr } = await lab.run(words, { sleep });
    expect(code).toBe(4);
    expect(stderr).toContain('with new secrets');
    const revoked = lab.seen.filter(({ path }) => path === 'sys/leases/revoke').map(({ body }) => (body as { lease_id: string }).lease_id);
    expect(revoked).toEqual(['database/creds/app/one', 'database/creds/app/two']);
  });

  test('that is asked to end while it reads revokes what was issued, and runs no command', async () => {
    lab.routes['GET database/creds/app'] = () => {
      process.emit('SIGTERM');
      return leased('one');
    };
    lab.routes['PUT sys/leases/revoke'] = {};
    expect((await lab.run(['exec', '-secret=database/creds/app', '--', ...program()])).code).toBe(143);
    expect(lab.seen.at(-1)).toMatchObject({ path: 'sys/leases/revoke', body: { lease_id: 'database/creds/app/one' } });
    await expect(environment()).rejects.toThrow('ENOENT');
  });

  test('waits before it asks again for a secret whose lease is only seconds long', async () => {
    const short = (password: string): { body: unknown } => ({ body: { ...(leased(password, false).body as object), lease_duration: 2 } });
    lab.routes['GET database/creds/app'] = [short('one'), short('two')];
    lab.routes['PUT sys/leases/revoke'] = {};
    let restarts = 0;
    const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
      if (milliseconds === 5_000) restarts += 1;
      else if (restarts > 0) await untilOver(milliseconds, signal);
    };
    const stays = "if (process.env.PASSWORD === 'one') setInterval(() => {}, 1000); else process.exit(4)";
    const words = ['exec', '-secret=database/creds/app', '-on-expiry=restart', '--', ...program(stays)];
    expect((await lab.run(words, { sleep })).code).toBe(4);
    expect(restarts).toBe(1);
  });

  test('stops the command when a lease ends, if that is wanted, and answers by which signal it ended', async () => {
    lab.routes['GET database/creds/app'] = leased('one', false);
    lab.routes['PUT sys/leases/revoke'] = {};
    const words = ['exec', '-secret=database/creds/app', '-on-expiry=stop', '--', ...program('setInterval(() => {}, 1000)')];
    expect((await lab.run(words)).code).toBe(143);
  });

  test('revokes what was issued when a later secret cannot be read', async () => {
    lab.routes['GET database/creds/app'] = leased('one');
    lab.routes['PUT sys/leases/revoke'] = {};
    const { code, stderr } = await lab.run(['exec', '-secret=database/creds/app', '-secret=kv/none', '--', ...program()]);
    expect([code, stderr]).toEqual([2, 'No value found at kv/none\n']);
    expect(lab.seen.at(-1)).toMatchObject({ path: 'sys/leases/revoke' });
  });

  test('says what is wrong with what it was asked', async () => {
    lab.routes['GET kv/app'] = { body: envelope({ data: { a: 'b', A: 'c' } }) };
    lab.routes['GET kv/bad'] = { body: envelope({ data: { a: 'b\0' } }) };
    const fails = async (...words: string[]): Promise<string> => {
      const { code, stderr } = await lab.run(['exec', ...words]);
      expect(code).toBe(1);
      return stderr.trim();
    };
    expect(await fails('--', 'true')).toContain('at least one -secret=PATH');
    expect(await fails('-secret=kv/app')).toContain('Not enough arguments');
    expect(await fails('-secret=kv/app#b', '--', 'true')).toBe('-secret=kv/app#b: the secret has no field "b"');
    expect(await fails('-secret=kv/app', '--', 'true')).toContain('two fields become the variable A');
    expect(await fails('-secret=X=kv/app#a', '-secret=X=kv/app#A', '--', 'true')).toContain('both set X');
    expect(await fails('-secret=kv/bad', '--', 'true')).toContain('a zero byte');
  });

  test('answers like a shell for a command that is not there', async () => {
    lab.routes['GET kv/app'] = { body: envelope({ data: { a: 'b' } }) };
    const run = await lab.run(['exec', '-secret=kv/app', '--', join(folder, 'no-such-program')]);
    expect([run.code, run.stderr]).toEqual([127, `"${join(folder, 'no-such-program')}" was not found\n`]);
  });
});

test('a secret to read is a path, with a field and a variable if it has one', () => {
  expect(parseWantedSecret('kv/a=b/c')).toMatchObject({ path: 'kv/a=b/c', field: undefined, variable: undefined });
  expect(parseWantedSecret('X=kv/a#b')).toMatchObject({ path: 'kv/a', field: 'b', variable: 'X' });
  for (const wrong of ['', '#a', 'X=', 'kv/a#', 'X=kv/a']) expect(() => parseWantedSecret(wrong)).toThrow('flag -secret');
});

test('fields are looked up among those of the secret alone', () => {
  expect(() => variablesOf(parseWantedSecret('kv/a#constructor'), { a: 'b' }, '')).toThrow('no field "constructor"');
});

test('a field becomes no variable of a loader or a shell by its name alone', () => {
  const secret = { 'ld preload': 'x', path: '/tmp', env: 'prod' };
  expect(() => variablesOf(parseWantedSecret('kv/a#ld preload'), secret, '')).toThrow('would set LD_PRELOAD');
  expect(() => variablesOf(parseWantedSecret('kv/a'), { path: '/tmp' }, '')).toThrow('would set PATH');
  expect(variablesOf(parseWantedSecret('PATH=kv/a#path'), secret, '')).toMatchObject({ PATH: '/tmp' });
  expect(variablesOf(parseWantedSecret('kv/a#env'), secret, 'APP_')).toMatchObject({ APP_ENV: 'prod' });
});
