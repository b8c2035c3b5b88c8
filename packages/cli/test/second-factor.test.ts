import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { cliLab } from './fake-server.ts';
import { login } from './fixtures/answers.ts';

const lab = cliLab();
const stored = () => readFile(join(lab.home, '.vault-token'), 'utf8');
const words = ['login', '-method=userpass', 'username=alice', 'password=x'];
const phone = { type: 'totp', id: 'm1', uses_passcode: true, name: 'phone' };
const key = { type: 'totp', id: 'm2', uses_passcode: true, name: '' };

function needs(constraints: Record<string, unknown[]>): object {
  const mfa_constraints = Object.fromEntries(Object.entries(constraints).map(([name, any]) => [name, { any }]));
  return {
    ...login,
    auth: { ...(login['auth'] as object), client_token: '', policies: null, mfa_requirement: { mfa_request_id: 'r1', mfa_constraints } },
  };
}

describe('a login that needs a second factor', () => {
  test('asks for the code, hides it, and stores the token', async () => {
    lab.routes['PUT auth/userpass/login/alice'] = { body: needs({ all: [phone] }) };
    lab.routes['PUT sys/mfa/validate'] = { body: login };
    const run = await lab.run(words, { stdin: '123456\n', isTty: true });
    expect(run.code).toBe(0);
    expect(run.stderr).toContain('Code of the totp method phone (m1) (will be hidden): ');
    expect(run.stdout + run.stderr).not.toContain('123456');
    expect(lab.seen.at(-1)).toMatchObject({ body: { mfa_request_id: 'r1', mfa_payload: { m1: ['123456'] } } });
    expect(lab.seen.at(-1)?.headers).not.toHaveProperty('x-vault-token');
    expect(await stored()).toBe('s.LOGINTOKEN');
  });

  test('says why a code was not accepted, and ends after three', async () => {
    lab.routes['PUT auth/userpass/login/alice'] = { body: needs({ all: [phone] }) };
    lab.routes['PUT sys/mfa/validate'] = {
      status: 403,
      body: { errors: ['failed to satisfy enforcement all. error: 2 errors occurred:\n\t* code already used\n\t* more\n\n'] },
    };
    const run = await lab.run(words, { stdin: '1\n2\n3\n4\n', isTty: true });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('The code was not accepted: code already used\n');
    expect(lab.seen.filter(({ path }) => path === 'sys/mfa/validate')).toHaveLength(3);
  });

  test('prints nothing of a server that a shell or a terminal would obey', async () => {
    lab.routes['PUT auth/userpass/login/alice'] = {
      body: needs({ 'a\u001b[2J': [{ ...phone, id: "'; touch x; '", name: 'p\u001b]0;' }] }),
    };
    const { stderr } = await lab.run(words);
    expect(stderr).not.toMatch(/\u001b/);
    expect(stderr).toContain('"mfa_payload":{"\\u0027; touch x; \\u0027":["CODE"]}}\' |');
  });

  test.each([
    ['nobody can be asked', { all: [phone] }, {}, 'a code of the totp method phone (m1)'],
    ['there is a choice', { all: [phone, key] }, { isTty: true }, 'a code of the totp method phone (m1), or of the totp method m2'],
    ['there are several', { all: [phone], more: [key] }, { isTty: true }, 'Enforcement more: a code of the totp method m2'],
  ])('prints how to go on where %s', async (_, constraints, options, text) => {
    lab.routes['PUT auth/userpass/login/alice'] = { body: needs(constraints) };
    const run = await lab.run(words, options);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('Request id: r1');
    expect(run.stderr).toContain(text);
    expect(run.stderr).toContain('echo \'{"mfa_request_id":"r1","mfa_payload":{"m1":["CODE"]');
    expect(run.stderr).toContain(' | strongroom write sys/mfa/validate -');
    expect(lab.seen.some(({ path }) => path === 'sys/mfa/validate')).toBe(false);
  });
});
