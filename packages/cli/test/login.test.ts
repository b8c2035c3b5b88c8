import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { cliLab } from './fake-server.ts';
import { login, lookupSelf, wrapped } from './fixtures/answers.ts';

const lab = cliLab();
const anonymous = { STRONGROOM_TOKEN: undefined };
const stored = () => readFile(join(lab.home, '.vault-token'), 'utf8');
const missing = { code: 'ENOENT' };

describe('login with a token', () => {
  test('checks it, stores it for its owner only, and prints it', async () => {
    lab.routes['GET auth/token/lookup-self'] = { body: lookupSelf };
    const { code, stdout } = await lab.run(['login', 's.GIVENTOKEN'], { env: anonymous });
    expect(code).toBe(0);
    expect(stdout).toContain('Success! You are now authenticated.');
    expect(stdout).toContain('token                s.GIVENTOKEN\n');
    expect(stdout).toContain('token_duration       59m50s\n');
    expect(stdout).toContain('token_meta_team      a\n');
    expect(lab.seen[0]?.headers['x-vault-token']).toBe('s.GIVENTOKEN');
    expect(await stored()).toBe('s.GIVENTOKEN');
    expect((await stat(join(lab.home, '.vault-token'))).mode & 0o777).toBe(0o600);
  });

  test('the stored token serves the commands that follow, and the environment goes before it', async () => {
    await writeFile(join(lab.home, '.vault-token'), 's.STORED\n', { mode: 0o644 });
    await lab.run(['token', 'lookup'], { env: anonymous });
    expect(lab.seen.at(-1)?.headers['x-vault-token']).toBe('s.STORED');
    await lab.run(['token', 'lookup']);
    expect(lab.seen.at(-1)?.headers['x-vault-token']).toBe('s.OWN');
  });

  test('replaces a token file that others could read', async () => {
    await writeFile(join(lab.home, '.vault-token'), 's.OLD', { mode: 0o644 });
    lab.routes['GET auth/token/lookup-self'] = { body: lookupSelf };
    await lab.run(['login', 's.GIVENTOKEN'], { env: anonymous });
    expect((await stat(join(lab.home, '.vault-token'))).mode & 0o777).toBe(0o600);
  });

  test('takes it from standard input, a word, or a question', async () => {
    lab.routes['GET auth/token/lookup-self'] = { body: lookupSelf };
    const sent = async (words: string[], options: object) => {
      const run = await lab.run(['login', ...words], { env: anonymous, ...options });
      return { code: run.code, token: lab.seen.at(-1)?.headers['x-vault-token'], stderr: run.stderr };
    };
    expect(await sent(['-'], { stdin: 's.A\n' })).toMatchObject({ code: 0, token: 's.A' });
    expect(await sent(['token=s.B'], {})).toMatchObject({ code: 0, token: 's.B' });
    expect(await sent([], { stdin: 's.C\n', isTty: true })).toMatchObject({
      code: 0,
      token: 's.C',
      stderr: expect.stringContaining('Token (will be hidden): '),
    });
  });

  test('without one and without a terminal it says what is missing', async () => {
    const { code, stderr } = await lab.run(['login'], { env: anonymous });
    expect(code).toBe(1);
    expect(stderr).toContain('The token is missing: give it as an argument');
    expect(await lab.run(['login', '-non-interactive'], { env: anonymous, isTty: true })).toMatchObject({ code: 1 });
  });

  test('a refused token is not stored', async () => {
    lab.routes['GET auth/token/lookup-self'] = { status: 403, body: { errors: ['permission denied'] } };
    const { code, stderr } = await lab.run(['login', 's.BAD'], { env: anonymous });
    expect(code).toBe(2);
    expect(stderr).toContain('Error authenticating: Error making API request.');
    expect(stderr).not.toContain('s.BAD');
    await expect(stored()).rejects.toMatchObject(missing);
  });

  test('warns when the environment hides the new token', async () => {
    lab.routes['GET auth/token/lookup-self'] = { body: lookupSelf };
    expect((await lab.run(['login', 's.GIVENTOKEN'], { env: { ...anonymous, VAULT_TOKEN: 's.ENV' } })).stderr).toContain(
      'VAULT_TOKEN is set',
    );
  });
});

describe('login with a name and a password', () => {
  test('puts the name in the path, the password in the body, and no token in the header', async () => {
    lab.routes['PUT auth/corp/login/alice'] = { body: login };
    const { code } = await lab.run(['login', '-method=ldap', '-path=corp', 'username=alice', 'password=hunter2']);
    expect(code).toBe(0);
    expect(lab.seen[0]).toMatchObject({ method: 'PUT', body: { password: 'hunter2' } });
    expect(lab.seen[0]?.headers).not.toHaveProperty('x-vault-token');
    expect(await stored()).toBe('s.LOGINTOKEN');
  });

  test('takes the local user and the environment or a question where nothing was given', async () => {
    lab.routes['PUT auth/ldap/login/tester'] = { body: login };
    lab.routes['PUT auth/userpass/login/tester'] = { body: login };
    await lab.run(['login', '-method=ldap'], { env: { VAULT_LDAP_PASSWORD: 'from-env' } });
    expect(lab.seen.at(-1)?.body).toEqual({ password: 'from-env' });
    const asked = await lab.run(['login', '-method=userpass'], { stdin: 'typed\r', isTty: true });
    expect(lab.seen.at(-1)?.body).toEqual({ password: 'typed' });
    expect(asked.stderr).toContain('Password (will be hidden): ');
    expect(asked.stdout + asked.stderr).not.toContain('typed');
  });

  test('without a password and without a terminal it says how to give one', async () => {
    const { code, stderr } = await lab.run(['login', '-method=ldap', 'username=alice']);
    expect(code).toBe(1);
    expect(stderr).toContain('The password is missing: give password=<string>');
    expect(stderr).toContain('STRONGROOM_LDAP_PASSWORD');
  });

  test('-token-only prints the token and stores nothing', async () => {
    lab.routes['PUT auth/userpass/login/ci'] = { body: login };
    expect(await lab.run(['login', '-method=userpass', '-token-only', 'username=ci', 'password=-'], { stdin: 'secret' })).toEqual({
      code: 0,
      stdout: 's.LOGINTOKEN',
      stderr: '',
    });
    await expect(stored()).rejects.toMatchObject(missing);
  });

  test('-no-store prints everything and stores nothing; -no-print the other way round', async () => {
    lab.routes['PUT auth/userpass/login/ci'] = { body: login };
    const words = ['login', '-method=userpass', 'username=ci', 'password=x'];
    expect((await lab.run([...words, '-no-store'])).stdout).toContain('The token was not stored.');
    await expect(stored()).rejects.toMatchObject(missing);
    expect(await lab.run([...words, '-no-print'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await stored()).toBe('s.LOGINTOKEN');
  });

  test('as JSON it prints the envelope alone', async () => {
    lab.routes['PUT auth/userpass/login/ci'] = { body: login };
    const { stdout } = await lab.run(['login', '-method=userpass', '-format=json', 'username=ci', 'password=x']);
    expect(JSON.parse(stdout)).toEqual(login);
  });

  test('opens a wrapped login before it stores the token', async () => {
    lab.routes['PUT auth/userpass/login/ci'] = { body: wrapped };
    lab.routes['PUT sys/wrapping/unwrap'] = { body: login };
    expect(await lab.run(['login', '-method=userpass', '-wrap-ttl=60', 'username=ci', 'password=x'])).toMatchObject({ code: 0 });
    expect(await stored()).toBe('s.LOGINTOKEN');
    expect(lab.seen.at(-1)?.headers['x-vault-token']).toBe('s.WRAPPING');
  });

  test('leaves a wrapped login wrapped when it stores nothing', async () => {
    lab.routes['PUT auth/userpass/login/ci'] = { body: wrapped };
    const words = ['login', '-method=userpass', '-wrap-ttl=60', '-token-only', 'username=ci', 'password=x'];
    expect(await lab.run(words)).toMatchObject({ code: 0, stdout: 's.WRAPPING' });
  });
});

describe('login with other methods', () => {
  test('sends their fields as they are', async () => {
    lab.routes['PUT auth/approle/login'] = { body: login };
    expect(await lab.run(['login', '-method=approle', 'role_id=r', 'secret_id=s'])).toMatchObject({ code: 0 });
    expect(lab.seen[0]?.body).toEqual({ role_id: 'r', secret_id: 's' });
    expect(await lab.run(['login', '-method=approle'])).toMatchObject({ code: 1 });
  });

  test('a typing error in a field names the fields, and nothing is sent', async () => {
    const { code, stderr } = await lab.run(['login', '-method=approle', 'rol_id=r', 'secret_id=s']);
    expect(code).toBe(1);
    expect(stderr).toBe('A login with approle has no field "rol_id". Did you mean "role_id"?\nFields of approle: role_id, secret_id.\n');
    expect((await lab.run(['login', '-method=userpass', 'user=alice', 'password=p'])).stderr).toContain('Did you mean "username"?');
    expect(lab.seen).toEqual([]);
  });

  test('a refusal asks whether the method is mounted there, and names the type that was meant', async () => {
    lab.routes['PUT auth/ldpa/login'] = { status: 403, body: { errors: ['permission denied'] } };
    const unknown = await lab.run(['login', '-method=ldpa', 'username=alice', 'password=p']);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain(
      'Is a login method mounted at auth/ldpa/? If it is mounted elsewhere, give -path. Did you mean -method "ldap"?',
    );
    lab.routes['PUT auth/ldap/login/alice'] = { status: 403, body: { errors: ['permission denied'] } };
    const absent = await lab.run(['login', '-method=ldap', 'username=alice', 'password=p']);
    expect(absent.stderr.trimEnd()).toMatch(/Is a login method mounted at auth\/ldap\/\? If it is mounted elsewhere, give -path\.$/);
    lab.routes['PUT auth/ldap/login/alice'] = { status: 400, body: { errors: ['invalid username or password'] } };
    expect((await lab.run(['login', '-method=ldap', 'username=alice', 'password=p'])).stderr).not.toContain('mounted');
  });
});
