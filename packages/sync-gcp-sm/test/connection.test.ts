import { describe, expect, test } from '@jest/globals';
import { nameComplaint, secretFields, tagsComplaint } from '@strongroom/sync-sdk';
import { GcpSmConnection, gcpSmDestination } from '../src/index.ts';
import { connectionOf } from './open-session.ts';

const check = (given: Parameters<typeof connectionOf>[0]) => gcpSmDestination.check!(connectionOf(given));
const { name, tags } = gcpSmDestination.limits(connectionOf({}));
const key = (location: string) => `projects/p/locations/${location}/keyRings/r/cryptoKeys/k`;

describe('gcp-sm (cloud3-sm)', () => {
  test('credentials are the JSON of a service account key, and show nowhere', () => {
    expect(secretFields(GcpSmConnection)).toEqual(['credentials']);
    expect(check({})).toEqual([]);
    expect(check({ credentials: '{"type":"service_account","client_email":"a@b","private_key":"k"}' })).toEqual([]);
    expect(check({ credentials: '@key.json' })[0]).toContain('"@file" is for command lines');
    expect(check({ credentials: 'secret text' })).toEqual(['credentials must be the JSON text of a service account key']);
    for (const type of ['external_account', 'impersonated_service_account', 'authorized_user']) {
      expect(check({ credentials: JSON.stringify({ type, credential_source: { file: '/etc/passwd' } }) })[0]).toContain('service_account');
    }
    expect(check({ credentials: '{"type":"service_account","private_key":"k"}' })).toEqual([
      'credentials lack client_email or private_key',
    ]);
  });

  test('project_id and service_account_email must look like one', () => {
    expect(check({ project_id: 'my-project-123', service_account_email: 'a@my-project-123.iam.gserviceaccount.com' })).toEqual([]);
    expect(check({ project_id: '123456789012' })).toEqual([]);
    expect(check({ project_id: 'projects/x' })).toHaveLength(1);
    expect(check({ service_account_email: 'a/b' })).toHaveLength(1);
  });

  test('kms_key_id and replica_regions exclude each other, and the older replication_locations, locational_kms_keys and global_kms_key', () => {
    expect(check({ kms_key_id: key('global') })).toEqual([]);
    expect(check({ replica_regions: { 'us-east1': '', 'europe-west1': key('europe-west1') } })).toEqual([]);
    expect(check({ kms_key_id: key('global'), replica_regions: { 'us-east1': '' } })[0]).toContain('exclude each other');
    expect(check({ replica_regions: { 'us-east1': '' }, replication_locations: ['us-east1'] })[0]).toContain('older way');
    expect(check({ global_kms_key: key('global'), replication_locations: ['us-east1'] })[0]).toContain('automatic replication');
    expect(check({ replication_locations: ['us-east1'], locational_kms_keys: { 'us-west1': key('us-west1') } })[0]).toContain('us-west1');
  });

  test('keys must be named in full, and lie where they are used', () => {
    expect(check({ kms_key_id: key('us-east1') })[0]).toContain('"global"');
    expect(check({ kms_key_id: 'k' })[0]).toContain('not the name of a Cloud KMS key');
    expect(check({ replica_regions: { 'us-east1': key('us-west1') } })[0]).toContain('us-east1');
    expect(check({ replica_regions: { nowhere: '' } })[0]).toContain('"nowhere"');
  });

  test('names and labels follow the rules of Google', () => {
    expect(name.normalize('vault/kv_1234/my secret')).toBe('vault-kv_1234-my-secret');
    expect(nameComplaint(name, 'a'.repeat(256))).toContain('at most 255 characters');
    expect(tagsComplaint(tags!, { team: 'blue', größe: 'x-1' })).toBeUndefined();
    for (const wrong of [{ Team: 'x' }, { team: 'Blue' }, { '1st': 'x' }, { team: 'a b' }, { team: 'x'.repeat(64) }]) {
      expect(tagsComplaint(tags!, wrong as unknown as Record<string, string>)).toContain('lower-case');
    }
  });
});
