import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { NotFound } from '@strongroom/engine-sdk';
import { MemoryView } from '@strongroom/engine-testkit';
import { PasswordPolicyStore } from '../../../src/services/passwords/password-policy-store.ts';
import { passwordPolicyPaths } from '../../../src/api/sys/path-password-policies.ts';
import { call as callPath, type Answer } from '../policies/call.ts';

const text = 'length=20\nrule "charset" { charset = "abcdef" min-chars = 2 }';
const listed = (message: string) => `1 error occurred:\n\t* ${message}\n\n`;

let view: MemoryView;
let passwords: PasswordPolicyStore;
let call: (operation: Parameters<typeof callPath>[1], path: string, body?: Record<string, unknown>) => Promise<Answer>;

beforeEach(() => {
  view = new MemoryView();
  passwords = new PasswordPolicyStore({ storage: view, randomBytes });
  const paths = passwordPolicyPaths({ passwords });
  call = (operation, path, body) => callPath(paths, operation, `policies/password${path}`, body);
});

describe('policies/password', () => {
  test('a policy is written, read, used, listed and deleted', async () => {
    expect(await call('read', '')).toMatchObject({ status: 405 });
    expect(await call('list', '/')).toEqual({ status: 404, errors: [] });
    expect(await call('update', '/wpp', { policy: text })).toMatchObject({ status: 204 });
    expect((await call('read', '/wpp')).data).toEqual({ policy: text });
    expect((await call('read', '/wpp/generate')).data).toEqual({ password: expect.stringMatching(/^[a-f]{20}$/) });
    expect((await call('list', '/')).data).toEqual({ keys: ['wpp'] });
    expect(await call('delete', '/wpp')).toMatchObject({ status: 204 });
    expect(await call('read', '/wpp')).toEqual({ status: 404, errors: [listed('policy does not exist')] });
    expect(await call('read', '/wpp/generate')).toEqual({ status: 404, errors: [listed('policy does not exist')] });
  });

  test('base64 is taken and stored decoded', async () => {
    await call('update', '/b', { policy: Buffer.from(text).toString('base64') });
    expect((await call('read', '/b')).data).toEqual({ policy: text });
  });

  test.each([
    ['length=2', listed(`invalid password policy: ${listed('no charset specified')}`)],
    ['length=3\nrule "charset" { charset = "ab" }', listed('passwords must be between 4 and 100 characters')],
    ['length=101\nrule "charset" { charset = "ab" }', listed('passwords must be between 4 and 100 characters')],
    [
      'length=10\nrule "charset" { charset = "ab" }\nrule "charset" { charset = "" min-chars = 1 }',
      listed('unable to construct test password from provided policy: are the rules impossible?'),
    ],
    ['', listed('missing policy')],
  ])('%j is refused', async (policy, message) => {
    expect(await call('update', '/bad', { policy })).toEqual({ status: 400, errors: [message] });
    expect((await call('list', '/')).status).toBe(404);
  });
});

describe('passwords for engines', () => {
  test('without a name: twenty characters, one of each kind at least', async () => {
    const password = await passwords.generate();
    expect(password).toMatch(/^[A-Za-z0-9-]{20}$/);
    for (const kind of [/[a-z]/, /[A-Z]/, /\d/, /-/]) expect(password).toMatch(kind);
  });

  test('follow the latest policy, also when another process wrote it', async () => {
    await passwords.put('p', text);
    expect(await passwords.generate('p')).toMatch(/^[a-f]{20}$/);
    await passwords.put('p', text.replace('20', '30'));
    expect(await passwords.generate('p')).toHaveLength(30);
    const other = new PasswordPolicyStore({ storage: view, randomBytes });
    await other.put('p', text.replace('20', '40'));
    passwords.invalidate('password/p');
    expect(await passwords.generate('p')).toHaveLength(40);
    await other.delete('p');
    passwords.invalidate('password/p');
    await expect(passwords.generate('p')).rejects.toThrow(new NotFound('no password policy found'));
  });

  test('the policy is read once', async () => {
    await passwords.put('p', text);
    await passwords.generate('p');
    const reads = view.reads;
    await passwords.generate('p');
    expect(view.reads).toBe(reads);
  });
});
