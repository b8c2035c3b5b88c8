import { describe, expect, test } from '@jest/globals';
import { cliLab } from './fake-server.ts';
import { envelope, sealStatus } from './fixtures/answers.ts';

const lab = cliLab();

describe('the command line', () => {
  test('an unknown command exits 1 and names the nearest', async () => {
    const { code, stderr } = await lab.run(['staus']);
    expect(code).toBe(1);
    expect(stderr).toContain('Unknown command "staus". Did you mean "status"?');
  });

  test('an unknown subcommand exits 1 and says of which command', async () => {
    const { code, stderr } = await lab.run(['kv', 'gett']);
    expect(code).toBe(1);
    expect(stderr).toContain('Unknown subcommand "gett" of "strongroom kv". Did you mean "get"?');
  });

  test('an unknown flag exits 1 and sends nothing', async () => {
    const { code, stderr } = await lab.run(['status', '-adress=x']);
    expect(code).toBe(1);
    expect(stderr).toContain('Unknown flag: -adress. Did you mean "-address"?');
    expect(lab.seen).toEqual([]);
  });

  test('too few and too many words exit 1 with the usage', async () => {
    const few = await lab.run(['read']);
    expect(few).toMatchObject({ code: 1, stdout: '' });
    expect(few.stderr).toContain('Not enough arguments (expected 1+, got 0)\nUsage: strongroom read [options] PATH [K=V...]');
    const many = await lab.run(['list', 'a', 'b']);
    expect(many.code).toBe(1);
    expect(many.stderr).toContain('Too many arguments (expected 1, got 2)');
  });

  test('global flags may stand before the command, between its words, and after them', async () => {
    lab.routes['GET a/b'] = { body: envelope({ data: { x: '1' } }) };
    lab.routes['GET sys/audit'] = { body: envelope({ data: {} }) };
    expect(await lab.run(['-format', 'json', 'read', 'a/b'])).toMatchObject({ code: 0 });
    expect((await lab.run(['audit', '-format', 'json', 'list'])).stdout).toBe('{}\n');
    expect(await lab.run(['read', 'a/b', '--field', 'x'])).toEqual({ code: 0, stdout: '1', stderr: '' });
  });

  test('help goes to standard output, and to standard error when it was not asked for', async () => {
    for (const words of [['-h'], ['--help'], ['help']]) {
      const { code, stdout } = await lab.run(words);
      expect(code).toBe(0);
      expect(stdout).toContain('Usage: strongroom <command> [args]');
    }
    expect((await lab.run(['help', 'kv', 'put'])).stdout).toContain('Usage: strongroom kv put [options] KEY DATA...');
    expect((await lab.run(['kv', 'put', '-h'])).stdout).toContain('-cas=<int>');
    const group = await lab.run(['operator']);
    expect(group).toMatchObject({ code: 1, stdout: '' });
    expect(group.stderr).toContain('Usage: strongroom operator <subcommand>');
  });

  test('the help of a subcommand named help stays reachable', async () => {
    expect((await lab.run(['auth', 'help', 'ldap'])).stdout).toContain('strongroom login -method=ldap');
  });

  test('version needs no server', async () => {
    const { code, stdout } = await lab.run(['version'], { env: { STRONGROOM_ADDR: 'nonsense' } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Strongroom v\d+\.\d+\.\d+\n$/);
    expect((await lab.run(['--version'])).stdout).toBe(stdout);
    expect((await lab.run(['version', '-format=json'])).stdout).toBe(
      `{\n  "version": "${stdout.trim().slice('Strongroom v'.length)}"\n}\n`,
    );
  });

  test('a command without a server does not take flags about one', async () => {
    const { code, stderr } = await lab.run(['server', '-address=http://x']);
    expect(code).toBe(1);
    expect(stderr).toContain('Unknown flag: -address.');
  });

  test('an unknown format is refused, from the flag and from the environment', async () => {
    expect((await lab.run(['status', '-format=xml'])).stderr).toContain('expected one of table, json, yaml, raw');
    expect((await lab.run(['status'], { env: { VAULT_FORMAT: 'xml' } })).stderr).toContain('Invalid output format "xml"');
    lab.routes['GET sys/seal-status'] = { body: sealStatus };
    lab.routes['GET sys/leader'] = { body: { ha_enabled: false } };
    expect((await lab.run(['status'], { env: { VAULT_FORMAT: 'json' } })).stdout).toContain('"sealed": false');
  });

  test('print token prints the token in force, and fails without one', async () => {
    expect(await lab.run(['print', 'token'])).toEqual({ code: 0, stdout: 's.OWN\n', stderr: '' });
    expect((await lab.run(['print', 'token'], { env: { STRONGROOM_TOKEN: undefined } })).code).toBe(1);
  });
});

describe('completion', () => {
  const words = async (...typed: string[]) => (await lab.run(['__complete', ...typed])).stdout.trim().split('\n');

  test('offers commands, subcommands and flags from the declarations', async () => {
    expect(await words('st')).toEqual(['status']);
    expect(await words('kv', '')).toContain('enable-versioning');
    expect(await words('kv', 'metadata', 'p')).toEqual(['put', 'patch']);
    expect(await words('kv', 'get', '-ver')).toEqual(['-version']);
    expect(await words('-address', 'http://x', 'token', 'cap')).toEqual(['capabilities']);
    expect(await words('token', 'create', '--expl')).toEqual(['--explicit-max-ttl']);
  });

  test('has a script for each shell it knows and refuses the rest', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) expect((await lab.run(['completion', shell])).stdout).toContain('strongroom __complete');
    expect(await lab.run(['completion', 'toString'])).toMatchObject({ code: 1 });
  });
});
