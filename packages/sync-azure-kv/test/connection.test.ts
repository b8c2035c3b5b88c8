import { describe, expect, test } from '@jest/globals';
import { fieldSpec } from '@strongroom/engine-sdk';
import { nameComplaint, secretFields, tagsComplaint } from '@strongroom/sync-sdk';
import { AzureKvConnection, azureKvDestination } from '../src/index.ts';

const connection = { key_vault_uri: 'https://shop.vault.azure.net', tenant_id: 't', client_id: 'c', client_secret: 's', cloud: 'cloud' };
const check = (change: object) => azureKvDestination.check!({ ...connection, ...change });
const { name, tags } = azureKvDestination.limits(connection);

describe('azure-kv (cloud2-kv)', () => {
  test('key_vault_uri, client_id and tenant_id are required, client_secret is a secret, and cloud is "cloud" by default', () => {
    const required = Object.entries(AzureKvConnection.properties).filter(([, field]) => fieldSpec(field).required === true);
    expect(required.map(([field]) => field)).toEqual(['key_vault_uri', 'tenant_id', 'client_id']);
    expect(secretFields(AzureKvConnection)).toEqual(['client_secret']);
    expect(AzureKvConnection.properties.cloud).toMatchObject({ default: 'cloud' });
  });

  test('key_vault_uri is the https address of a vault in the domain of its cloud', () => {
    expect(check({})).toEqual([]);
    expect(check({ key_vault_uri: 'https://shop.vault.azure.net/' })).toEqual([]);
    for (const key_vault_uri of [
      'http://shop.vault.azure.net',
      'shop',
      '',
      'https://vault.azure.net',
      'https://shop.vault.azure.net.evil.example',
    ]) {
      expect(check({ key_vault_uri })).toHaveLength(1);
    }
    expect(check({ key_vault_uri: 'https://shop.vault.azure.net/secrets/a?x=1' })).toEqual([expect.stringContaining('a vault alone')]);
  });

  test('cloud takes the names of the sovereign clouds, each with its own domain of vaults', () => {
    expect(check({ cloud: 'AzureUSGovernment', key_vault_uri: 'https://shop.vault.usgovcloudapi.net' })).toEqual([]);
    expect(check({ cloud: 'china', key_vault_uri: 'https://shop.vault.azure.cn' })).toEqual([]);
    expect(check({ cloud: 'us_government' })).toEqual([expect.stringContaining('vault.usgovcloudapi.net')]);
    expect(check({ cloud: 'germany' })).toEqual(['cloud must be one of cloud, usgovernment, china']);
  });

  test('names become letters, digits and dashes, of which there are at most 127', () => {
    expect(name.normalize('vault/kv_1234/my_secret')).toBe('vault-kv-1234-my-secret');
    expect(nameComplaint(name, 'a'.repeat(127))).toBeUndefined();
    expect(nameComplaint(name, 'a'.repeat(128))).toBe('must be letters, digits and "-", at most 127 characters');
  });

  test('custom_tags are at most 13, because two of 15 are ours', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`tag${index}`, '']));
    expect(tagsComplaint(tags!, many(13))).toBeUndefined();
    expect(tagsComplaint(tags!, many(14))).toContain('at most 13');
    expect(tagsComplaint(tags!, { long: 'x'.repeat(257) })).toContain('"long"');
  });
});
