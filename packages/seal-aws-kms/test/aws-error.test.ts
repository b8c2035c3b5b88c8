import { describe, expect, test } from '@jest/globals';
import { translateAwsError } from '../src/aws-error.ts';
import { awsKmsSeal } from '../src/index.ts';
import { readSettings } from '@strongroom/seal-sdk';

const thrown = (name: string, httpStatusCode?: number): Error =>
  Object.assign(new Error('text'), { name, $metadata: { requestId: 'r-1', ...(httpStatusCode === undefined ? {} : { httpStatusCode }) } });

describe('errors of AWS KMS', () => {
  test.each([
    ['DisabledException', 400, 'seal_permission_denied'],
    ['NotFoundException', 400, 'seal_permission_denied'],
    ['KMSInvalidStateException', 400, 'seal_permission_denied'],
    ['ExpiredTokenException', 400, 'seal_permission_denied'],
    ['CredentialsProviderError', undefined, 'seal_permission_denied'],
    ['IncorrectKeyException', 400, 'seal_wrong_key'],
    ['TooMany', 429, 'seal_throttled'],
    ['KMSInternalException', 500, 'seal_unavailable'],
    ['DependencyTimeoutException', 503, 'seal_unavailable'],
    ['TimeoutError', undefined, 'seal_unavailable'],
  ])('%s is distinguished from the others', (name, status, code) => {
    expect(translateAwsError(thrown(name, status))).toMatchObject({ code, serviceCode: name, requestId: 'r-1' });
  });
});

describe('the settings of AWS KMS', () => {
  const faults = (block: Record<string, string>, env: Record<string, string> = {}): string =>
    awsKmsSeal.check!(readSettings(awsKmsSeal.settings, { block, env, readFile: () => Buffer.alloc(0) }).values()).join('; ');

  test.each([
    'alias/strongroom',
    '1234abcd-12ab-34cd-56ef-1234567890ab',
    'arn:aws:kms:eu-west-1:123456789012:key/1234abcd',
    'arn:aws-cn:kms:cn-north-1:123456789012:alias/x',
  ])('take %s', (key) => expect(faults({ kms_key_id: key })).toBe(''));

  test('are those of the same seal elsewhere, and the environment wins', () => {
    const env = { VAULT_AWSKMS_SEAL_KEY_ID: 'alias/other', AWS_DEFAULT_REGION: 'eu-central-1', AWS_KMS_ENDPOINT: 'https://kms.example' };
    const values = readSettings(awsKmsSeal.settings, { block: { kms_key_id: 'alias/one' }, env, readFile: () => Buffer.alloc(0) }).values();
    expect(values).toMatchObject({ kms_key_id: 'alias/other', region: 'eu-central-1', endpoint: 'https://kms.example' });
  });

  test('are refused by name', () => {
    expect(faults({ kms_key_id: 'not a key' })).toContain('kms_key_id');
    expect(faults({ kms_key_id: 'alias/a', access_key: 'a' })).toContain('come together');
    expect(faults({ kms_key_id: 'alias/a', endpoint: 'kms' })).toContain('endpoint');
  });
});
