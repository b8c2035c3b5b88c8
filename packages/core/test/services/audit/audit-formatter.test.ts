import { createHmac } from 'node:crypto';
import { BadRequest, ExactNumber, InternalError, PermissionDenied } from '@strongroom/engine-sdk';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { auditedFailure, type AuditEntry } from '../../../src/services/audit/audit-entry.ts';
import { AuditFormatter, auditFormat } from '../../../src/services/audit/audit-formatter.ts';
import type { CallerIdentity } from '../../../src/services/caller/caller-identity.ts';

const salt = '3c1bd0f6-5a44-4f0e-9f2d-8d1f2f3a4b5c';
const at = new Date('2030-01-02T03:04:05.670Z');
const digest = (value: string): string => `hmac-sha256:${createHmac('sha256', salt).update(value).digest('hex')}`;
const formatter = (options: Record<string, string> = {}, headers = new Map<string, { hmac: boolean }>()): AuditFormatter =>
  new AuditFormatter(salt, auditFormat(options), headers);
/** The request, as a line has it. */
const requestIn = (line: string) => (JSON.parse(line) as { request: { data: Record<string, unknown>; headers: unknown } }).request;

const identity: CallerIdentity = {
  token: 'the-token',
  accessor: 'the-accessor',
  displayName: 'ldap-ann',
  type: 'service',
  tokenPolicies: ['default', 'reader'],
  identityPolicies: ['admins', 'default'],
  noDefaultPolicy: false,
  entityId: 'entity-1',
  metadata: { username: 'ann' },
  numUses: 0,
  remainingUses: 0,
  ttl: 3600,
  issuedAt: Date.parse('2030-01-02T03:00:00Z'),
};

const entry: AuditEntry = {
  auth: { identity, allowed: true, grantingPolicies: ['reader'] },
  request: {
    id: 'request-1',
    clientId: 'entity-1',
    operation: 'update',
    path: 'secret/data/a',
    mount: { point: 'secret/', type: 'kv', class: 'secret', version: 'v1.2.3', accessor: 'kv_1' },
    token: 'the-token',
    accessor: 'the-accessor',
    data: { data: { password: 'hidden', port: 5432, on: true, since: '2030-01-02T03:04:05Z', none: null }, list: ['x', ['y']] },
    remoteAddress: '127.0.0.1',
    remotePort: 4711,
    wrapTtl: 60,
    headers: { 'X-Trace': ['t1', 't2'], Accept: '*/*' },
  },
};

describe('the line of a request', () => {
  test('has its keys in the order that readers know, with digests for texts', () => {
    const line = formatter().line(entry, at);
    expect(line).toBe(
      JSON.stringify({
        time: '2030-01-02T03:04:05.67Z',
        type: 'request',
        auth: {
          client_token: digest('the-token'),
          accessor: digest('the-accessor'),
          display_name: 'ldap-ann',
          policies: ['admins', 'default', 'reader'],
          token_policies: ['default', 'reader'],
          identity_policies: ['admins', 'default'],
          policy_results: { allowed: true, granting_policies: [{ name: 'reader', namespace_id: 'root', type: 'acl' }] },
          metadata: { username: 'ann' },
          entity_id: 'entity-1',
          token_type: 'service',
          token_ttl: 3600,
          token_issue_time: '2030-01-02T03:00:00Z',
        },
        request: {
          id: 'request-1',
          client_id: 'entity-1',
          operation: 'update',
          mount_point: 'secret/',
          mount_type: 'kv',
          mount_accessor: 'kv_1',
          mount_running_version: 'v1.2.3',
          mount_class: 'secret',
          client_token: digest('the-token'),
          client_token_accessor: digest('the-accessor'),
          namespace: { id: 'root' },
          path: 'secret/data/a',
          data: {
            data: { password: digest('hidden'), port: 5432, on: true, since: '2030-01-02T03:04:05Z', none: null },
            list: [digest('x'), [digest('y')]],
          },
          remote_address: '127.0.0.1',
          remote_port: 4711,
          wrap_ttl: 60,
        },
      }),
    );
  });

  test('has digests for the tokens of a provider in metadata', () => {
    const metadata = { username: 'ann', oauth2_access_token: 'of-the-provider' };
    const line = formatter().line({ ...entry, auth: { ...entry.auth, identity: { ...identity, metadata } } }, at);
    expect(JSON.parse(line)).toMatchObject({ auth: { metadata: { username: 'ann', oauth2_access_token: digest('of-the-provider') } } });
  });

  test('without a caller says only what type of token there would be', () => {
    const line = formatter().line({ auth: {}, request: { id: 'r', operation: 'update', path: 'sys/audit/test' } }, at);
    expect(JSON.parse(line)).toEqual({
      time: '2030-01-02T03:04:05.67Z',
      type: 'request',
      auth: { token_type: 'default' },
      request: { id: 'r', operation: 'update', namespace: { id: 'root' }, path: 'sys/audit/test' },
    });
  });

  test('writes a whole second without a fraction', () => {
    expect(formatter().line(entry, new Date('2030-01-02T03:04:10Z'))).toContain('"time":"2030-01-02T03:04:10Z"');
  });

  test('leaves values below tuned top-level keys readable, and only there', () => {
    const mount = { point: 'p/', type: 'kv', readableRequestKeys: ['open'] };
    const data = { open: { deep: ['seen'] }, closed: { open: 'hidden' } };
    const line = formatter().line({ auth: {}, request: { id: 'r', operation: 'update', path: 'p/a', mount, data } }, at);
    expect(requestIn(line).data).toEqual({ open: { deep: ['seen'] }, closed: { open: digest('hidden') } });
  });

  test('digests what only looks like a timestamp', () => {
    const values = [
      '2030-13-02T03:04:05Z',
      '2030-02-30T03:04:05Z',
      '2030-01-02T24:04:05Z',
      '2030-01-02 03:04:05Z',
      '2030-01-02T03:04:05.1234567890123Z',
    ];
    const line = formatter().line({ auth: {}, request: { id: 'r', operation: 'update', path: 'p', data: { values } } }, at);
    expect(requestIn(line).data.values).toEqual(values.map(digest));
    const times = ['2030-01-02T03:04:05Z', '2028-02-29T03:04:05.123456789+02:00'];
    const open = formatter().line({ auth: {}, request: { id: 'r', operation: 'update', path: 'p', data: { times } } }, at);
    expect(requestIn(open).data.times).toEqual(times);
  });

  test('keeps keys such as __proto__ and digests their values', () => {
    const data = JSON.parse('{"__proto__":{"a":"hidden"},"constructor":"hidden"}') as Record<string, unknown>;
    const line = formatter().line({ auth: {}, request: { id: 'r', operation: 'update', path: 'p', data } }, at);
    expect(line).toContain(`"data":{"__proto__":{"a":"${digest('hidden')}"},"constructor":"${digest('hidden')}"}`);
  });

  test('survives data nested a hundred thousand levels deep', () => {
    const data = { deep: JSON.parse(`${'['.repeat(100_000)}"hidden"${']'.repeat(100_000)}`) as unknown };
    const line = formatter().line({ auth: {}, request: { id: 'r', operation: 'update', path: 'p', data } }, at);
    expect(line).toContain('(nested too deeply)');
  });

  test('has the headers that were asked for, in lower case, and digests credentials whatever was asked', () => {
    const headers = new Map([
      ['x-trace', { hmac: false }],
      ['accept', { hmac: true }],
      ['x-vault-token', { hmac: false }],
    ]);
    const request = { ...entry.request, headers: { ...entry.request.headers, 'X-Vault-Token': 'the-token', Other: 'o' } };
    const line = formatter({}, headers).line({ ...entry, request }, at);
    expect(requestIn(line).headers).toEqual({
      'x-trace': ['t1', 't2'],
      accept: [digest('*/*')],
      'x-vault-token': [digest('the-token')],
    });
  });
});

describe('the line of an answer', () => {
  const answer = (
    response: AuditEntry['response'],
    operation: 'read' | 'list' = 'read',
    options = {},
  ): { response: Record<string, unknown>; type: string } =>
    JSON.parse(formatter(options).line({ ...entry, request: { ...entry.request, operation }, response: response ?? {} }, at)) as never;

  test('repeats the request and names the mount version by its other key', () => {
    const line = answer({ data: { a: 'hidden' }, leaseId: 'db/creds/r/1', warnings: ['careful'] });
    expect(line.type).toBe('response');
    expect(Object.keys(line)).toEqual(['time', 'type', 'auth', 'request', 'response']);
    expect(line.response).toEqual({
      mount_point: 'secret/',
      mount_type: 'kv',
      mount_accessor: 'kv_1',
      mount_running_plugin_version: 'v1.2.3',
      mount_class: 'secret',
      secret: { lease_id: 'db/creds/r/1' },
      data: { a: digest('hidden') },
      warnings: ['careful'],
    });
  });

  test('digests the token and accessors of a login and of a wrapped answer', () => {
    const auth = {
      client_token: 'new-token',
      accessor: 'new-accessor',
      policies: ['default'],
      token_policies: ['default'],
      metadata: null,
      lease_duration: 60,
      renewable: true,
      entity_id: '',
      token_type: 'service',
      orphan: true,
      mfa_requirement: null,
      num_uses: 0,
    } as const;
    const wrapInfo = {
      token: 'wrap-token',
      accessor: 'wrap-accessor',
      ttl: 60,
      creation_time: 't',
      creation_path: 'p',
      wrapped_accessor: 'inner',
    };
    const { response } = answer({ auth: { ...auth, policies: ['default'], token_policies: ['default'] }, wrapInfo });
    expect(response['auth']).toEqual({
      client_token: digest('new-token'),
      accessor: digest('new-accessor'),
      policies: ['default'],
      token_policies: ['default'],
      token_type: 'service',
      token_ttl: 60,
    });
    expect(response['wrap_info']).toEqual({
      ttl: 60,
      token: digest('wrap-token'),
      accessor: digest('wrap-accessor'),
      creation_time: 't',
      creation_path: 'p',
      wrapped_accessor: digest('inner'),
    });
  });

  test('has only the number of keys of a list, where that is asked for', () => {
    const data = { keys: ['a', 'b'], key_info: { a: {}, b: {} } };
    expect(answer({ data }, 'list', { elide_list_responses: 'true' }).response['data']).toEqual({ keys: 2, key_info: 2 });
    expect(answer({ data }, 'list').response['data']).toEqual({ keys: [digest('a'), digest('b')], key_info: { a: {}, b: {} } });
    expect(answer({ data }, 'read', { elide_list_responses: 'true' }).response['data']).toEqual({
      keys: [digest('a'), digest('b')],
      key_info: { a: {}, b: {} },
    });
  });

  test('digests a raw body', () => {
    expect(answer({ raw: { contentType: 'text/plain', body: 'hidden' } }).response['data']).toEqual({
      http_content_type: 'text/plain',
      http_raw_body: digest('hidden'),
    });
  });

  test('digests a complaint about the input, which may quote it, and writes other failures in clear', () => {
    expect(auditedFailure(new BadRequest('value "hidden" is wrong'))).toEqual({ refusal: 'value "hidden" is wrong' });
    expect(auditedFailure(new PermissionDenied())).toEqual({ error: '1 error occurred:\n\t* permission denied\n\n' });
    expect(auditedFailure(new InternalError(''))).toEqual({});
    expect(answer({ refusal: 'value "hidden" is wrong' }).response['data']).toEqual({ error: digest('value "hidden" is wrong') });
    expect(formatter().line({ ...entry, response: {}, error: 'permission denied' }, at)).toMatch(/"error":"permission denied"}$/);
  });
});

describe('the options of every device', () => {
  test('log_raw writes values as they are, while the digest for searching stays', () => {
    const raw = formatter({ log_raw: 'true' });
    const line = JSON.parse(raw.line(entry, at)) as { auth: { client_token: string }; request: { data: { list: unknown } } };
    expect(line.auth.client_token).toBe('the-token');
    expect(line.request.data.list).toEqual(['x', ['y']]);
    expect(raw.digest('x')).toBe(digest('x'));
  });

  test('hmac_accessor=false leaves accessors readable', () => {
    const line = JSON.parse(formatter({ hmac_accessor: 'false' }).line(entry, at)) as {
      auth: Record<string, string>;
      request: Record<string, string>;
    };
    expect(line.auth['accessor']).toBe('the-accessor');
    expect(line.request['client_token_accessor']).toBe('the-accessor');
    expect(line.auth['client_token']).toBe(digest('the-token'));
  });

  test.each([
    [{ log_raw: 'maybe' }, 'option log_raw: strconv.ParseBool: parsing "maybe": invalid syntax'],
    [{ prefix: '@cee' }, 'audit log prefixing is not allowed'],
    [{ format: 'jsonx' }, 'unknown format type "jsonx"; must be "json"'],
  ])('%j is refused', (options, text) => {
    expect(() => auditFormat(options as unknown as Record<string, string>)).toThrow(new BadRequest(text));
  });
});

test('no text of any request or answer is in any line in clear', () => {
  const mark = 'sEcReT';
  const secret = fc.string({ maxLength: 12 }).map((text) => `${mark}${text}`);
  const data = fc.dictionary(
    fc.string({ maxLength: 8 }),
    fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        secret,
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('node')),
        fc.dictionary(fc.string(), tie('node')),
      ),
    })).node,
  );
  const lines = formatter();
  fc.assert(
    fc.property(
      data,
      data,
      secret,
      fc.constantFrom('read' as const, 'list' as const, 'update' as const),
      (sent, answered, token, operation) => {
        const whole: AuditEntry = {
          auth: { identity: { ...identity, token, accessor: token } },
          request: { ...entry.request, operation, token, accessor: token, data: sent },
        };
        const response = {
          data: answered,
          refusal: token,
          wrapInfo: { token, accessor: token, ttl: 1, creation_time: 't', creation_path: 'p' },
        };
        const written = [lines.line(whole, at), lines.line({ ...whole, response }, at)];
        for (const line of written) {
          expect(line).not.toContain(mark);
          expect(line).not.toContain('\n');
          JSON.parse(line);
        }
      },
    ),
  );
});

describe('an entry with many or long texts', () => {
  const many = { list: Array.from({ length: 10_000 }, (_, index) => `text ${index}`), empty: '', nested: { again: 'text 1' } };
  const long = { text: `${'x'.repeat(65_535)}😀${'é'.repeat(600_000)}` };

  test.each([
    ['many', many, 30],
    ['long', long, 2],
  ])('has them digested in turns, and its line is the same: %s', async (_title, data, least) => {
    const large: AuditEntry = { ...entry, request: { ...entry.request, data } };
    let turns = 0;
    const digests = await formatter().digestsFor(large, async () => {
      turns += 1;
    });
    expect(turns).toBeGreaterThanOrEqual(least);
    expect(formatter().line(large, at, digests) === formatter().line(large, at)).toBe(true);
    const answered: AuditEntry = { ...large, response: { data } };
    expect(formatter().line(answered, at, digests) === formatter().line(answered, at)).toBe(true);
  });

  test('is distinguished from ordinary ones, which are written at once, and costs nothing where nothing is digested', () => {
    const never = async (): Promise<void> => undefined;
    expect(formatter().digestsFor(entry, never)).toBeUndefined();
    expect(formatter({ log_raw: 'true' }).digestsFor({ ...entry, request: { ...entry.request, data: many } }, never)).toBeUndefined();
  });

  test('shows exact numbers with their digits', () => {
    const exact: AuditEntry = { ...entry, request: { ...entry.request, data: { n: new ExactNumber('12345678901234567890') } } };
    expect(formatter().line(exact, at)).toContain('"data":{"n":12345678901234567890}');
  });
});
