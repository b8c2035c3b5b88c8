import { describe, expect, test } from '@jest/globals';
import { cliLab, denied } from './fake-server.ts';
import { authMounts, envelope, mounts } from './fixtures/answers.ts';

const lab = cliLab();

describe('secrets', () => {
  test('enable mounts at the type, or at the path given', async () => {
    lab.routes['POST sys/mounts/kv'] = {};
    lab.routes['POST sys/mounts/db/prod'] = {};
    expect((await lab.run(['secrets', 'enable', '-version=2', 'kv'])).stdout).toBe('Success! Enabled the kv secrets engine at: kv/\n');
    expect(lab.seen[0]?.body).toMatchObject({ type: 'kv', options: { version: '2' }, description: '', local: false });
    const words = ['-path=/db/prod/', '-description=d', '-default-lease-ttl=1h', '-max-lease-ttl=24h', '-audit-non-hmac-request-keys=a,b'];
    await lab.run(['secrets', 'enable', ...words, '-force-no-cache', '-options=x=y', 'database']);
    expect(lab.seen[1]?.body).toEqual({
      type: 'database',
      description: 'd',
      config: { default_lease_ttl: '3600s', max_lease_ttl: '86400s', audit_non_hmac_request_keys: ['a', 'b'], force_no_cache: true },
      options: { x: 'y' },
      local: false,
      seal_wrap: false,
      external_entropy_access: false,
    });
  });

  test('enable of a plugin needs its name, which is the path too', async () => {
    lab.routes['POST sys/mounts/mine'] = {};
    expect(await lab.run(['secrets', 'enable', 'plugin'])).toMatchObject({ code: 1 });
    expect((await lab.run(['secrets', 'enable', '-plugin-name=mine', 'plugin'])).stdout).toBe(
      'Success! Enabled the mine plugin at: mine/\n',
    );
  });

  test('a refused enable says why and exits 2', async () => {
    lab.routes['POST sys/mounts/kv'] = { status: 400, body: { errors: ['path is already in use at kv/'] } };
    const { code, stderr } = await lab.run(['secrets', 'enable', 'kv']);
    expect(code).toBe(2);
    expect(stderr).toContain('Error enabling: Error making API request.');
    expect(stderr).toContain('* path is already in use at kv/');
  });

  test('list prints the mounts in order, briefly or in detail', async () => {
    lab.routes['GET sys/mounts'] = { body: mounts };
    expect((await lab.run(['secrets', 'list'])).stdout).toBe(
      [
        'Path          Type         Accessor              Description',
        '----          ----         --------              -----------',
        'cubbyhole/    cubbyhole    cubbyhole_1a2b3c4d    per-token private storage',
        'secret/       kv           kv_6dd18118           application secrets',
        '',
      ].join('\n'),
    );
    const detailed = (await lab.run(['secrets', 'list', '-detailed'])).stdout;
    expect(detailed).toContain('Default TTL');
    expect(detailed).toMatch(/secret\/\s+kv\s+kv_6dd18118\s+1h\s+system\s+false\s+replicated\s+false\s+false\s+version=2/);
    expect(JSON.parse((await lab.run(['secrets', 'list', '-format=json'])).stdout)).toEqual(mounts['data']);
    expect((await lab.run(['secrets', 'list', '-field=zz'])).code).toBe(1);
  });

  test('tune sends the given settings only', async () => {
    lab.routes['POST sys/mounts/secret/tune'] = {};
    expect((await lab.run(['secrets', 'tune', '-max-lease-ttl=2h', '-description=', 'secret/'])).stdout).toBe(
      'Success! Tuned the secrets engine at: secret/\n',
    );
    expect(lab.seen[0]?.body).toEqual({ max_lease_ttl: '7200s', description: '' });
    await lab.run(['secrets', 'tune', '-listing-visibility=unauth', 'secret']);
    expect(lab.seen[1]?.body).toEqual({ listing_visibility: 'unauth' });
  });

  test('disable confirms', async () => {
    lab.routes['DELETE sys/mounts/secret'] = {};
    expect((await lab.run(['secrets', 'disable', 'secret'])).stdout).toBe(
      'Success! Disabled the secrets engine (if it existed) at: secret/\n',
    );
  });

  test('disable -force prints what is left outside', async () => {
    const left_outside = [{ kind: 'database user', name: 'v-1', system: 'prod', lease_id: 'db/creds/r/x' }];
    lab.routes['DELETE sys/mounts/db?force=true'] = {
      body: { ...envelope({ data: { left_outside } }), warnings: ['1 thing stays outside'] },
    };
    const { code, stdout, stderr } = await lab.run(['secrets', 'disable', '-force', 'db']);
    expect(code).toBe(0);
    expect(stderr).toContain('1 thing stays outside');
    expect(stdout).toMatch(/Kind +Name +System +Lease\n.*\ndatabase user +v-1 +prod +db\/creds\/r\/x\n/);
    expect(stdout).toContain('Success! Disabled the secrets engine (if it existed) at: db/');
  });

  test('disable of what takes longer does not say that it is done', async () => {
    lab.routes['DELETE sys/mounts/db'] = {
      status: 202,
      body: { ...envelope({ data: { removing: true } }), warnings: ['it continues in the background'] },
    };
    const { code, stdout, stderr } = await lab.run(['secrets', 'disable', 'db']);
    expect(code).toBe(0);
    expect(stderr).toContain('it continues in the background');
    expect(stdout).toBe('The secrets engine at db/ is still being removed.\n');
  });

  test('move waits until the server is done', async () => {
    const status = (word: string) => ({ body: envelope({ data: { migration_id: 'm1', migration_info: { status: word } } }) });
    lab.routes['POST sys/remount'] = { body: envelope({ data: { migration_id: 'm1' } }) };
    lab.routes['GET sys/remount/status/m1'] = [status('in-progress'), status('success')];
    const { code, stdout } = await lab.run(['secrets', 'move', 'old', 'new/path']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      'Started moving secrets engine old/ to new/path/, with migration ID m1\nSuccess! Finished moving secrets engine old/ to new/path/, with migration ID m1\n',
    );
    expect(lab.seen[0]?.body).toEqual({ from: 'old/', to: 'new/path/' });
    expect(lab.pauses).toEqual([1000]);
  });

  test('a move that fails on the server exits 2', async () => {
    lab.routes['POST sys/remount'] = { body: envelope({ data: { migration_id: 'm1' } }) };
    lab.routes['GET sys/remount/status/m1'] = { body: envelope({ data: { migration_info: { status: 'failure' } } }) };
    expect(await lab.run(['secrets', 'move', 'old', 'new'])).toMatchObject({ code: 2 });
  });
});

describe('auth', () => {
  test('enable, tune and disable work below sys/auth', async () => {
    lab.routes['POST sys/auth/corp'] = {};
    lab.routes['POST sys/mounts/auth/corp/tune'] = {};
    lab.routes['DELETE sys/auth/corp'] = {};
    expect((await lab.run(['auth', 'enable', '-path=corp', '-token-type=batch', 'ldap'])).stdout).toBe(
      'Success! Enabled ldap auth method at: corp/\n',
    );
    expect(lab.seen.at(-1)?.body).toMatchObject({ type: 'ldap', config: { token_type: 'batch' } });
    const words = ['-user-lockout-threshold=3', '-user-lockout-duration=5m', '-user-lockout-disable=false', '-token-type=service'];
    expect((await lab.run(['auth', 'tune', ...words, 'auth/corp/'])).stdout).toBe('Success! Tuned the auth method at: corp/\n');
    expect(lab.seen.at(-1)?.body).toEqual({
      token_type: 'service',
      user_lockout_config: { lockout_threshold: '3', lockout_duration: '300s', lockout_disable: false },
    });
    expect((await lab.run(['auth', 'disable', 'corp'])).stdout).toBe('Success! Disabled the auth method (if it existed) at: corp/\n');
  });

  test('move renames below auth/', async () => {
    lab.routes['POST sys/remount'] = {};
    expect((await lab.run(['auth', 'move', 'auth/corp', 'staff'])).stdout).toBe('Success! Moved auth method from: corp/ to: staff/\n');
    expect(lab.seen[0]?.body).toEqual({ from: 'auth/corp/', to: 'auth/staff/' });
  });

  test('list prints the methods', async () => {
    lab.routes['GET sys/auth'] = { body: authMounts };
    const { stdout } = await lab.run(['auth', 'list']);
    expect(stdout).toContain('Path      Type     Accessor               Description                Version\n');
    expect(stdout).toContain('corp/     ldap     auth_ldap_aa11bb22     n/a                        n/a\n');
    expect((await lab.run(['auth', 'list', '-detailed'])).stdout).toContain('default-service');
  });

  test('help explains a type, or the type at a path', async () => {
    lab.routes['GET sys/auth'] = { body: authMounts };
    expect((await lab.run(['auth', 'help', 'userpass'])).stdout).toContain('login -method=userpass');
    expect((await lab.run(['auth', 'help', 'corp/'])).stdout).toContain('login -method=ldap');
    expect(await lab.run(['auth', 'help', 'nowhere/'])).toMatchObject({ code: 1, stderr: 'No auth method is enabled at: nowhere/\n' });
  });
});

describe('audit', () => {
  test('enable and disable', async () => {
    lab.routes['PUT sys/audit/file'] = {};
    lab.routes['DELETE sys/audit/file'] = {};
    expect((await lab.run(['audit', 'enable', 'file', 'file_path=/tmp/a.log'])).stdout).toBe(
      'Success! Enabled the file audit device at: file/\n',
    );
    expect(lab.seen[0]?.body).toEqual({ type: 'file', description: '', options: { file_path: '/tmp/a.log' }, local: false });
    expect((await lab.run(['audit', 'disable', 'file/'])).stdout).toBe('Success! Disabled audit device (if it was enabled) at: file/\n');
  });

  test('list prints the devices, and exits 2 when there are none', async () => {
    lab.routes['GET sys/audit'] = [
      { body: envelope({ data: {} }) },
      {
        body: envelope({
          data: { 'file/': { path: 'file/', type: 'file', description: '', options: { file_path: '/tmp/a.log' }, local: false } },
        }),
      },
    ];
    expect(await lab.run(['audit', 'list'])).toEqual({ code: 2, stdout: '', stderr: 'No audit devices are enabled.\n' });
    expect((await lab.run(['audit', 'list'])).stdout).toBe(
      'Path     Type    Description\n----     ----    -----------\nfile/    file    n/a\n',
    );
    expect((await lab.run(['audit', 'list', '-detailed'])).stdout).toContain('file_path=/tmp/a.log');
  });
});

describe('plugin', () => {
  const detailed = [
    { type: 'auth', name: 'ldap', version: 'v1.0.0', builtin: true, deprecation_status: 'supported' },
    { type: 'database', name: 'postgresql-database-plugin', version: 'v1.0.0', builtin: true, deprecation_status: 'supported' },
  ];

  test('list prints all or one type', async () => {
    lab.routes['GET sys/plugins/catalog'] = { body: envelope({ data: { auth: ['ldap'], detailed } }) };
    expect((await lab.run(['plugin', 'list'])).stdout).toContain('ldap                          auth        v1.0.0\n');
    expect((await lab.run(['plugin', 'list', 'database', '-detailed'])).stdout).not.toContain('ldap');
    expect((await lab.run(['plugin', 'list', 'databse'])).stderr).toContain('"databse" is not a type of plugin');
  });

  test('info, register, deregister and reload', async () => {
    lab.routes['GET sys/plugins/catalog/database/mine'] = { body: envelope({ data: { name: 'mine', builtin: false } }) };
    lab.routes['PUT sys/plugins/catalog/database/mine'] = {};
    lab.routes['DELETE sys/plugins/catalog/database/mine?version=v1.0.0'] = {};
    lab.routes['PUT sys/plugins/reload/backend'] = { body: envelope({ data: { reload_id: 'r1' } }) };
    expect((await lab.run(['plugin', 'info', 'database', 'mine'])).stdout).toContain('builtin    false');
    expect(await lab.run(['plugin', 'info', 'database', 'other'])).toMatchObject({ code: 2 });
    expect(await lab.run(['plugin', 'register', 'database', 'mine'])).toMatchObject({ code: 1 });
    expect((await lab.run(['plugin', 'register', '-sha256=ab', '-args=x', 'database', 'mine'])).stdout).toBe(
      'Success! Registered plugin: mine\n',
    );
    expect(lab.seen.at(-1)?.body).toEqual({ type: 'database', command: 'mine', args: ['x'], env: [], sha256: 'ab' });
    expect(await lab.run(['plugin', 'deregister', '-version=v1.0.0', 'database', 'mine'])).toMatchObject({ code: 0 });
    expect((await lab.run(['plugin', 'reload', '-mounts=a/,b/'])).stdout).toBe('Success! Reloaded mounts: a/, b/, reload_id: r1\n');
    expect(lab.seen.at(-1)?.body).toEqual({ mounts: ['a/', 'b/'] });
    expect(await lab.run(['plugin', 'reload'])).toMatchObject({ code: 1 });
  });

  test('a refusal exits 2', async () => {
    lab.routes['GET sys/plugins/catalog'] = denied();
    expect(await lab.run(['plugin', 'list'])).toMatchObject({ code: 2 });
  });
});
