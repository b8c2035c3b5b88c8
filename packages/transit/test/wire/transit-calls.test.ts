import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type Difference, mountForTest, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import { transitEngine } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./transit-calls.json', import.meta.url), 'utf8')) as RecordedCall[];
/** The first is 1. */
const numberOf = (call: string, field?: string): number =>
  1 + calls.findIndex((entry) => entry.call === call && (field === undefined || Object.hasOwn(entry.body as object, field)));
const said = 'the answer says what would be right';
const noBase = 'specified base key not found: base_key_name must name an ECDSA key';
const callers = 'it is a mistake of the caller, so the status is 400';

const differences: Readonly<Record<number, Difference>> = {
  [numberOf('POST wt/keys/bad')]: { why: said, status: 400, errors: [/field "type" must be one of aes256-gcm96, ecdsa-p256, /] },
  [numberOf('POST wt/keys/baded')]: { why: callers, status: 400, errors: ['convergent encryption not supported for keys of type ed25519'] },
  [numberOf('POST wt/keys/badder')]: {
    why: callers,
    status: 400,
    errors: ['key derivation and convergent encryption not supported for keys of type rsa-2048'],
  },
  [numberOf('POST wt/keys/macless')]: { why: said, status: 400, errors: ['invalid key_size 8: it must be from 32 to 512'] },
  [calls.findIndex(({ body }) => (body as { bits?: number } | undefined)?.bits === 100) + 1]: {
    why: said,
    status: 400,
    errors: ['invalid bit length: bits must be 128, 256 or 512'],
  },
  [calls.findIndex(({ body }) => (body as { signature_algorithm?: string } | undefined)?.signature_algorithm === 'other') + 1]: {
    why: callers,
    status: 400,
    errors: ['unsupported rsa signature algorithm other: signature_algorithm must be pss or pkcs1v15'],
  },
  [numberOf('POST wt/hmac/mac/md5')]: { why: said, status: 400, errors: ['unsupported algorithm "md5"'] },
  [numberOf('POST wt/verify/mac', 'signature')]: { why: said, status: 400, errors: ["provide one of 'signature' or 'hmac'"] },
  [numberOf('GET wt/export/other/exp')]: {
    why: said,
    status: 400,
    errors: [/^invalid export type: other; it must be one of encryption-key, /],
  },
  [numberOf('GET wt/backup/cha')]: {
    why: callers,
    status: 400,
    errors: ['exporting is disallowed on the policy: set exportable of keys/<name>/config'],
  },
  [numberOf('GET wt/backup/none')]: { why: callers, status: 400, errors: ['key "none" not found'] },
  [numberOf('POST wt/restore/exp')]: { why: callers, status: 400, errors: ['key "exp" already exists: set force to replace it'] },
  [numberOf('POST wt/restore/exp3')]: { why: callers, status: 400, errors: [/^backup cannot be read: /] },
  [numberOf('POST wt/keys/imp/import', 'ciphertext')]: { why: callers, status: 400, errors: [/^provided ciphertext is too short: /] },
  [calls.findIndex(({ call, body }) => call === 'POST wt/keys/imp/import' && Object.keys(body as object).length === 0) + 1]: {
    why: callers,
    status: 400,
    errors: ['ciphertext is required: aes256-gcm96 does not support public_key import'],
  },
  [numberOf('POST wt/keys/exp/import_version')]: {
    why: callers,
    status: 400,
    errors: ['the import_version endpoint can only be used with an imported key'],
  },
  [numberOf('GET wt/byok-export/recipient/source/x')]: {
    why: said,
    status: 400,
    errors: ['invalid key version: it must be a number, or latest'],
  },
  [numberOf('GET wt/byok-export/source/source')]: {
    why: callers,
    status: 400,
    errors: ['unsupported key type in use; destination must be a rsa key'],
  },
  [numberOf('GET wt/byok-export/recipient/none')]: { why: callers, status: 400, errors: ['no such source key for export'] },
  [numberOf('GET wt/byok-export/none/source')]: { why: callers, status: 400, errors: ['no such destination key to export to'] },
  [calls.findLastIndex(({ call }) => call === 'GET wt/byok-export/recipient/source') + 1]: {
    why: callers,
    status: 400,
    errors: ['refusing to use soft-deleted key'],
  },
  [calls.findLastIndex(({ call }) => call === 'POST wt/derive-key/agreed') + 1]: {
    why: callers,
    status: 400,
    errors: [/^the key agreed is there: only a derived or imported key of the type aes128-gcm96 /],
  },
  [numberOf('POST wt/derive-key/kept')]: {
    why: 'a key that was made here gets no version that another party knows',
    status: 400,
    errors: [/^the key kept is there: only a derived or imported key /],
  },
  [numberOf('POST wt/derive-key/of-type')]: {
    why: said,
    status: 400,
    errors: [/^unknown key type ed25519: derived_key_type must be one of aes128-gcm96, /],
  },
  [numberOf('POST wt/derive-key/by-algorithm')]: {
    why: said,
    status: 400,
    errors: ['key derivation algorithm dh not supported: it must be ecdh'],
  },
  [numberOf('POST wt/derive-key/of-none')]: { why: said, status: 400, errors: [noBase] },
  [numberOf('POST wt/derive-key/of-nothing')]: { why: said, status: 400, errors: [noBase] },
  [numberOf('POST wt/derive-key/with-nonsense')]: {
    why: callers,
    status: 400,
    errors: [/^failed to parse supplied peer public key PEM: /],
  },
  [numberOf('POST wt/derive-key/with-larger')]: {
    why: callers,
    status: 400,
    errors: ['base private key type ecdsa-p256 does not match peer public key curve'],
  },
  [numberOf('POST wt/derive-key/of-later')]: {
    why: callers,
    status: 400,
    errors: ['requested version of the base key is higher than the latest key version'],
  },
  [numberOf('POST wt/derive-key/of-negative')]: { why: callers, status: 400, errors: ['requested version of the base key is negative'] },
};

describe('the recorded calls of the transit secrets engine', () => {
  let core: Core;
  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [transitEngine], devRootToken: 'root' });
  });
  afterAll(async () => core.close());
  // Warnings of a key that exists and of a source of random bytes that is not used; and when a key is rotated by itself.
  recordedCalls({ test }, { calls, differences, core: () => core, extraKeys: ['.warnings', '.data.rotation'] });
});

test('every path of the peer is served, with each of its operations', async () => {
  const theirs = JSON.parse(readFileSync(new URL('./transit-paths.json', import.meta.url), 'utf8')) as Record<string, readonly string[]>;
  expect(Object.keys(theirs)).toHaveLength(38);
  /** Whatever a parameter is called. */
  const form = (path: string): string => path.replace(/\{\w+\}/g, '{}');
  const mount = await mountForTest(transitEngine);
  try {
    const { raw } = await mount.call('read', 'sys/internal/specs/openapi');
    const { paths } = JSON.parse(String(raw!.body)) as { paths: Record<string, object> };
    const ours = new Map(Object.entries(paths).map(([path, operations]) => [form(path), operations]));
    for (const [path, operations] of Object.entries(theirs)) {
      const served = Object.keys(ours.get(form(`/transit/${path}`)) ?? {});
      expect({ path, served }).toEqual({ path, served: expect.arrayContaining([...operations]) });
    }
  } finally {
    await mount.close();
  }
});
