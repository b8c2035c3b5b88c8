import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { formatHcl } from '../src/format/hcl.ts';
import { cliLab } from './fake-server.ts';
import { envelope, lease } from './fixtures/answers.ts';

const lab = cliLab();
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strongroom-cli-policy-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('policy', () => {
  test('list prints one name a line', async () => {
    lab.routes['GET sys/policies/acl?list=true'] = { body: envelope({ data: { keys: ['default', 'root'] } }) };
    expect((await lab.run(['policy', 'list'])).stdout).toBe('default\nroot\n');
    expect((await lab.run(['policy', 'list', '-format=json'])).stdout).toBe('[\n  "default",\n  "root"\n]\n');
  });

  test('read prints the policy as it was written', async () => {
    const policy = 'path "a" {\n  capabilities = ["read"]\n}\n';
    lab.routes['GET sys/policies/acl/app'] = { body: envelope({ data: { name: 'app', policy } }) };
    expect((await lab.run(['policy', 'read', 'App'])).stdout).toBe(policy);
    expect(await lab.run(['policy', 'read', 'zz'])).toEqual({ code: 2, stdout: '', stderr: 'No policy named: zz\n' });
  });

  test('write takes a file or standard input', async () => {
    await writeFile(join(folder, 'app.hcl'), 'path "a" {}');
    lab.routes['PUT sys/policies/acl/app'] = {};
    expect((await lab.run(['policy', 'write', 'app', join(folder, 'app.hcl')])).stdout).toBe('Success! Uploaded policy: app\n');
    expect(lab.seen[0]?.body).toEqual({ policy: 'path "a" {}' });
    await lab.run(['policy', 'write', 'APP', '-'], { stdin: 'path "b" {}' });
    expect(lab.seen[1]?.body).toEqual({ policy: 'path "b" {}' });
    expect((await lab.run(['policy', 'write', 'app', join(folder, 'none.hcl')])).stderr).toContain('Error reading policy');
  });

  test('delete confirms', async () => {
    lab.routes['DELETE sys/policies/acl/app'] = {};
    expect((await lab.run(['policy', 'delete', 'app'])).stdout).toBe('Success! Deleted policy: app\n');
  });

  test('check prints complaints as compilers do, and fails where the server would refuse the policy', async () => {
    await writeFile(join(folder, 'bad.hcl'), 'path "a" {}');
    const complaints = [{ severity: 'error', line: 2, column: 19, message: 'invalid capability "raed"' }];
    lab.routes['POST sys/policies/check'] = { body: envelope({ data: { valid: false, complaints, left_out: 3 } }) };
    const file = join(folder, 'bad.hcl');
    const { code, stdout } = await lab.run(['policy', 'check', file]);
    expect([code, stdout]).toEqual([1, `${file}:2:19: error: invalid capability "raed"\nand 3 more\n`]);
    lab.routes['POST sys/policies/check'] = { body: envelope({ data: { valid: true, complaints: [] } }) };
    expect(await lab.run(['policy', 'check', '-'], { stdin: 'path "b" {}' })).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)?.body).toEqual({ policy: 'path "b" {}' });
  });

  test('explain asks about your own token, about others and about drafts', async () => {
    const sources = [{ policy: 'dev', line: 4, column: 1, capabilities: ['list'] }];
    const data = {
      allowed: false,
      reason: 'path "a/*" of dev grants list, not read',
      rule: { sources },
      missing: 'read',
      suggestion: 'path "a/*" {}',
    };
    lab.routes['POST sys/policies/explain-self'] = { body: envelope({ data }) };
    expect(await lab.run(['policy', 'explain', 'a/b'])).toMatchObject({
      code: 2,
      stdout: [`refused: ${data.reason}`, '  dev, line 4: list', 'missing: read', 'would allow it:', 'path "a/*" {}', ''].join('\n'),
    });
    lab.routes['POST sys/policies/explain'] = { body: envelope({ data: { allowed: true, reason: 'fine' } }) };
    const draft = ['-draft=-', '-name=dev', '-policy=dev,ops', '-operation=list'];
    expect(await lab.run(['policy', 'explain', ...draft, 'a/b'], { stdin: 'path "a/*" {}' })).toMatchObject({
      code: 0,
      stdout: 'allowed: fine\n',
    });
    expect(lab.seen.at(-1)?.body).toEqual({
      path: 'a/b',
      operation: 'list',
      policies: ['dev', 'ops'],
      draft: 'path "a/*" {}',
      name: 'dev',
    });
  });

  test('who reads all pages', async () => {
    const page = {
      policies: [{ name: 'dev', effect: 'allows', sources: [] }],
      holders: [{ kind: 'role', mount: 'auth/x/', name: 'web', policies: ['dev'] }],
    };
    lab.routes['POST sys/policies/who'] = { body: envelope({ data: page }) };
    const { stdout } = await lab.run(['policy', 'who', 'a/b']);
    expect(stdout).toMatch(/policy +dev +allows/);
    expect(stdout).toMatch(/role +auth\/x\/web +n\/a +dev/);
  });

  test('fmt rewrites a file, and leaves a broken one alone', async () => {
    const file = join(folder, 'fmt.hcl');
    await writeFile(file, 'path "a" { capabilities=["read"] }');
    expect((await lab.run(['policy', 'fmt', file])).stdout).toBe(`Success! Formatted policy: ${file}\n`);
    expect(await readFile(file, 'utf8')).toBe('path "a" {\n  capabilities = ["read"]\n}\n');
    await writeFile(file, 'path "a" {');
    expect(await lab.run(['policy', 'fmt', file])).toMatchObject({ code: 1, stderr: 'Error formatting policy: "{" is never closed\n' });
    expect(await readFile(file, 'utf8')).toBe('path "a" {');
  });
});

describe('formatting HCL', () => {
  const tidy = [
    '# who may read',
    'path "a/*" {',
    '  capabilities     = ["read", "list"]',
    '  min_wrapping_ttl = "1s" # short',
    '',
    '  allowed_parameters = {',
    '    "x" = ["1", "2"]',
    '    "*" = []',
    '  }',
    '  required_parameters = [',
    '    "one",',
    '    "two"',
    '  ]',
    '}',
    '',
    'path "b" {}',
    '',
  ].join('\n');

  test('leaves tidy text as it is', () => {
    expect(formatHcl(tidy)).toBe(tidy);
  });

  test('makes untidy text tidy', () => {
    const untidy = tidy.replace(/^ +/gm, '\t').replaceAll(' = ', '=').replace(/ +=/g, '=').replace('\n\n  ', '\n\n\n\n');
    expect(formatHcl(untidy)).toBe(tidy);
  });

  test('keeps strings, comments and heredocs to the letter', () => {
    const text = 'a = "x = { y"\n// b = {\nc = <<EOT\n  { as   is\nEOT\n';
    expect(formatHcl(text)).toBe(text);
  });

  test.each(['path "a" }', 'a = [1, 2', 'a = [1}', 'a = "open'])('refuses %j', (text) => {
    expect(() => formatHcl(text)).toThrow('Error formatting policy');
  });
});

describe('lease', () => {
  test('lookup and renew', async () => {
    lab.routes['PUT sys/leases/lookup'] = { body: envelope({ data: { id: 'l/1', ttl: 90, renewable: true } }) };
    lab.routes['PUT sys/leases/renew'] = { body: { ...lease, data: null } };
    expect((await lab.run(['lease', 'lookup', 'l/1'])).stdout).toContain('ttl          1m30s');
    expect(lab.seen.at(-1)?.body).toEqual({ lease_id: 'l/1' });
    expect((await lab.run(['lease', 'renew', '-increment=1h', 'l/1'])).stdout).toContain('lease_duration     1h');
    expect(lab.seen.at(-1)?.body).toEqual({ lease_id: 'l/1', increment: 3600 });
  });

  test('revoke works in the background, or waits with -sync', async () => {
    lab.routes['PUT sys/leases/revoke/l/1'] = { status: 202 };
    expect(await lab.run(['lease', 'revoke', 'l/1'])).toEqual({
      code: 0,
      stdout: 'All revocation operations queued successfully!\n',
      stderr: '',
    });
    expect(lab.seen.at(-1)?.body).toEqual({ sync: false });
    expect((await lab.run(['lease', 'revoke', '-sync', 'l/1'])).stdout).toBe('Success! Revoked lease: l/1\n');
    expect(lab.seen.at(-1)?.body).toEqual({ sync: true });
  });

  test('revoke takes a prefix, and force only with one', async () => {
    lab.routes['PUT sys/leases/revoke-prefix/l'] = {};
    lab.routes['PUT sys/leases/revoke-force/l'] = {};
    expect((await lab.run(['lease', 'revoke', '-prefix', '-sync', 'l/'])).stdout).toBe('Success! Revoked any leases with prefix: l/\n');
    const forced = await lab.run(['lease', 'revoke', '-force', '-prefix', 'l']);
    expect(forced.stdout).toBe('Success! Force revoked any leases with prefix: l\n');
    expect(forced.stderr).toContain('Warning!');
    expect(await lab.run(['lease', 'revoke', '-force', 'l/1'])).toMatchObject({ code: 1 });
  });
});
