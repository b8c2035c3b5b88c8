import { describe, expect, test } from '@jest/globals';
import { cliLab } from './fake-server.ts';
import { envelope, login, lookupSelf } from './fixtures/answers.ts';

const lab = cliLab();

describe('token create', () => {
  test('sends what was given, times in seconds', async () => {
    lab.routes['POST auth/token/create'] = { body: login };
    const words = [
      '-policy=a',
      '-policy=b,c',
      '-ttl=1h',
      '-period=24h',
      '-explicit-max-ttl=90',
      '-use-limit=3',
      '-metadata=k=v',
      '-orphan',
    ];
    const { code, stdout } = await lab.run([
      'token',
      'create',
      ...words,
      '-display-name=ci',
      '-renewable=false',
      '-no-default-policy',
      '-type=service',
    ]);
    expect(code).toBe(0);
    expect(lab.seen[0]?.body).toEqual({
      policies: ['a', 'b', 'c'],
      ttl: '3600s',
      period: '86400s',
      explicit_max_ttl: '90s',
      num_uses: 3,
      meta: { k: 'v' },
      no_parent: true,
      no_default_policy: true,
      display_name: 'ci',
      renewable: false,
      type: 'service',
    });
    expect(stdout).toContain('token                  s.LOGINTOKEN');
  });

  test('goes by the role given', async () => {
    lab.routes['POST auth/token/create/ci'] = { body: login };
    expect(await lab.run(['token', 'create', '-role=ci', '-field=token'])).toEqual({ code: 0, stdout: 's.LOGINTOKEN', stderr: '' });
    expect(lab.seen[0]?.body).toEqual({ renewable: true });
  });
});

describe('token lookup', () => {
  test('asks about your own token, another, or an accessor', async () => {
    lab.routes['GET auth/token/lookup-self'] = { body: lookupSelf };
    lab.routes['POST auth/token/lookup'] = { body: lookupSelf };
    lab.routes['POST auth/token/lookup-accessor'] = { body: lookupSelf };
    const own = await lab.run(['token', 'lookup']);
    expect(own.stdout).toContain('ttl                 59m50s');
    expect(own.stdout).toContain('policies            [default dev]');
    await lab.run(['token', 'lookup', 's.OTHER']);
    expect(lab.seen.at(-1)?.body).toEqual({ token: 's.OTHER' });
    await lab.run(['token', 'lookup', '-accessor', 'ACC']);
    expect(lab.seen.at(-1)).toMatchObject({ path: 'auth/token/lookup-accessor', body: { accessor: 'ACC' } });
    expect(await lab.run(['token', 'lookup', '-accessor'])).toMatchObject({ code: 1 });
  });
});

describe('token renew', () => {
  test('renews your own token, another, or an accessor', async () => {
    lab.routes['PUT auth/token/renew-self'] = { body: login };
    lab.routes['PUT auth/token/renew'] = { body: login };
    lab.routes['POST auth/token/renew-accessor'] = { body: login };
    expect(await lab.run(['token', 'renew', '-increment=30m'])).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)?.body).toEqual({ increment: 1800 });
    await lab.run(['token', 'renew', 's.OTHER']);
    expect(lab.seen.at(-1)?.body).toEqual({ token: 's.OTHER', increment: 0 });
    await lab.run(['token', 'renew', '-accessor', 'ACC', '-i', '60']);
    expect(lab.seen.at(-1)?.body).toEqual({ accessor: 'ACC', increment: 60 });
  });
});

describe('token revoke', () => {
  test('revokes your own token, another, an accessor, or all but the children', async () => {
    for (const path of [
      'PUT auth/token/revoke-self',
      'PUT auth/token/revoke',
      'PUT auth/token/revoke-orphan',
      'POST auth/token/revoke-accessor',
    ])
      lab.routes[path] = {};
    const paths: string[] = [];
    for (const words of [['-self'], ['s.X'], ['-mode=orphan', 's.X'], ['-accessor', 'ACC']]) {
      expect(await lab.run(['token', 'revoke', ...words])).toEqual({
        code: 0,
        stdout: 'Success! Revoked token (if it existed)\n',
        stderr: '',
      });
      paths.push(lab.seen.at(-1)?.path ?? '');
    }
    expect(paths).toEqual(['auth/token/revoke-self', 'auth/token/revoke', 'auth/token/revoke-orphan', 'auth/token/revoke-accessor']);
  });

  test('refuses to guess which token is meant', async () => {
    for (const words of [[], ['-self', 's.X'], ['-self', '-mode=orphan'], ['-accessor', '-mode=orphan', 'ACC']]) {
      expect(await lab.run(['token', 'revoke', ...words])).toMatchObject({ code: 1 });
    }
    expect(lab.seen).toEqual([]);
  });
});

describe('token capabilities', () => {
  test('prints them in order, for your own token, another, or an accessor', async () => {
    const answer = { body: envelope({ data: { capabilities: ['read', 'create'], 'a/b': ['read', 'create'] } }) };
    for (const kind of ['capabilities-self', 'capabilities', 'capabilities-accessor']) lab.routes[`POST sys/${kind}`] = answer;
    expect(await lab.run(['token', 'capabilities', 'a/b'])).toEqual({ code: 0, stdout: 'create, read\n', stderr: '' });
    expect(lab.seen.at(-1)?.body).toEqual({ paths: ['a/b'] });
    await lab.run(['token', 'capabilities', 's.X', 'a/b']);
    expect(lab.seen.at(-1)).toMatchObject({ path: 'sys/capabilities', body: { token: 's.X', paths: ['a/b'] } });
    await lab.run(['token', 'capabilities', '-accessor', 'ACC', 'a/b']);
    expect(lab.seen.at(-1)).toMatchObject({ path: 'sys/capabilities-accessor', body: { accessor: 'ACC', paths: ['a/b'] } });
    expect((await lab.run(['token', 'capabilities', '-format=json', 'a/b'])).stdout).toBe('[\n  "create",\n  "read"\n]\n');
  });
});
