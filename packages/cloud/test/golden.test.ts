import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { RequestOperation } from '@strongroom/core';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithMoto, startMoto, type MotoServer } from '@strongroom/lab';
import { Beside, mountCloud, type Key } from './cloud-mount.ts';

interface Recorded {
  readonly line: string;
  readonly status: number;
  readonly errors?: readonly string[];
  readonly data?: unknown;
  readonly warnings?: readonly string[];
  readonly renewable?: boolean;
  readonly lease_duration?: number;
  readonly lease?: string;
}

const OPERATIONS: Record<string, RequestOperation> = { GET: 'read', LIST: 'list', POST: 'update', PUT: 'update', DELETE: 'delete' };

/** Where we answer otherwise on purpose. docs/differences.md has the same list. */
const DEVIATIONS: Record<string, { status: number; errors: readonly string[] }> = {
  'DELETE aws/roles/none !status': { status: 404, errors: ['Role "none" not found'] },
  'POST aws/roles/bad {"credential_type":"iam_user"}': {
    status: 400,
    errors: [invalidRole('must specify at least one of policy_arns or policy_document with iam_user credential_type')],
  },
  'POST aws/roles/bad {"credential_type":"assumed_role"}': {
    status: 400,
    errors: [invalidRole('must specify role_arns with assumed_role credential_type')],
  },
  'POST aws/static-roles/s2 {"username":"static2","rotation_period":"10s"}': {
    status: 400,
    errors: ['1 error occurred:\n\t* role rotation period out of range: must be greater than 60.00 seconds\n\n'],
  },
  'POST aws/static-roles/s2 {"username":"nosuchuser","rotation_period":"1h"} !status': {
    status: 400,
    errors: [
      expect.stringMatching(
        /^unable to manage the access keys of "nosuchuser": AWS: NoSuchEntity: .*\(request \w+\)$/,
      ) as unknown as string,
    ],
  },
};

/** Warnings that we answer besides the recorded ones. */
const WARNINGS: Record<string, readonly string[]> = {
  'POST aws/sts/assume {"ttl":"30h"}': ['108000 s were asked for, and max_sts_ttl of the role or the maximum of the mount allows 3600 s'],
};

/** What the keys of recorded answers may hold, where it is another value each time. */
const VOLATILE: Record<string, RegExp> = {
  '<access key>': /^A[KS]IA[A-Z0-9]{16}$/,
  '<secret key>': /^[\w/+]{40,41}$/,
  '<token>': /^[\w/+=]{100,}$/,
  '<id>': /^[a-z0-9]{20}$/,
  '<time>': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  '<lease>': /^aws\/creds\/user\/\w{24}$/,
  '<session arn>': /^arn:aws:sts::123456789012:assumed-role\/deploy\/vault-root-assume-\d{10}-\w{20}$/,
};

/** Keys that we answer besides the recorded ones. */
const EXTRA: Record<string, readonly string[]> = {
  'aws/config/root': ['root_rotation'],
  'aws/creds/user': ['ready_at'],
  'aws/sts/user': ['ready_at'],
  'aws/creds/legacy': ['ready_at'],
  'aws/creds/assume': ['session_token'],
  'aws/creds/fed': ['session_token'],
  'aws/sts/assume': ['session_token'],
  'aws/sts/fed': ['session_token'],
  'aws/sts/legacy': ['session_token'],
  'aws/static-roles/s1': ['last_vault_rotation', 'status'],
  'aws/static-creds/s1': ['last_vault_rotation', 'ttl'],
};

jest.setTimeout(60_000);

const recording = JSON.parse(readFileSync(new URL('./recorded-calls.json', import.meta.url), 'utf8')) as Recorded[];

describeWithMoto('the recorded answers', () => {
  let moto: MotoServer;
  let mount: TestMount;
  let key: Key;
  let lease = '';

  beforeAll(async () => {
    moto = await startMoto();
    key = await new Beside(moto.endpoint).seed();
    mount = await mountCloud();
  }, 60_000);
  afterAll(async () => {
    await mount?.close();
    await moto?.stop();
  });

  test.each(recording.map((recorded, index) => [index + 1, recorded.line.replace(/ !.*| >.*/, ''), recorded] as const))(
    '%i: %s',
    async (_, __, recorded) => {
      const [, verb, path, body] = /^(\w+) (\S+)(?: (\{.*\}))?/.exec(recorded.line)!;
      const text = (body ?? '')
        .replaceAll('http://127.0.0.1:5600', moto.endpoint)
        .replaceAll('$AK', key.access_key)
        .replaceAll('$SK', key.secret_key)
        .replaceAll('$l', lease);
      const answer = await mount.call(OPERATIONS[verb!]!, path!, text === '' ? {} : { data: JSON.parse(text) as Record<string, unknown> });
      if (recorded.line.includes('>l=')) lease = answer.leaseId;
      const wanted = { ...recorded, ...DEVIATIONS[recorded.line] };
      expect({ status: answer.status, errors: answer.errors }).toEqual({ status: wanted.status, errors: wanted.errors });
      if (wanted.errors || recorded.status === 204) return;
      const { data, warnings, renewable, leaseDuration, leaseId } = answer;
      expect({ warnings, renewable, leaseDuration }).toEqual({
        warnings: WARNINGS[recorded.line] ?? recorded.warnings ?? null,
        renewable: recorded.renewable,
        leaseDuration: recorded.lease_duration,
      });
      if (recorded.lease !== undefined && path!.startsWith('aws/')) expect(leaseId).toMatch(new RegExp(`^${recorded.lease}/\\w{24}$`));
      if (path!.startsWith('aws/')) {
        const extra = Object.keys(data ?? {}).filter((name) => !Object.hasOwn(recorded.data ?? {}, name));
        expect(extra.sort()).toEqual(verb === 'GET' || !path!.includes('static') ? [...(EXTRA[path!] ?? [])].sort() : []);
      }
      expectCovers(data, recorded.data);
    },
  );
});

/** Every key of `recorded` is there with its value. */
function expectCovers(answered: unknown, recorded: unknown): void {
  if (typeof recorded === 'string' && VOLATILE[recorded]) expect(String(answered)).toMatch(VOLATILE[recorded]);
  else if (typeof recorded === 'string' && recorded.startsWith('http://127.0.0.1:'))
    expect(String(answered)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  else if (recorded !== null && typeof recorded === 'object' && !Array.isArray(recorded)) {
    for (const [name, value] of Object.entries(recorded)) expectCovers((answered as Record<string, unknown>)[name], value);
    // moto counts the life of a session from a moment before the answer.
  } else if (typeof recorded === 'number' && [899, 1199, 1799, 3599].includes(recorded)) {
    expect(Math.abs((answered as number) - recorded)).toBeLessThanOrEqual(60);
  } else expect(answered).toEqual(recorded);
}

function invalidRole(text: string): string {
  return `error(s) validating supplied role data: ${JSON.stringify(`1 error occurred:\n\t* ${text}\n\n`)}`;
}
