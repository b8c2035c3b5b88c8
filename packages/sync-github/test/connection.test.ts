import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { fieldSpec } from '@strongroom/engine-sdk';
import { nameComplaint, secretFields } from '@strongroom/sync-sdk';
import { GithubConnection, githubDestination } from '../src/index.ts';
import { apiAddress } from '../src/connection.ts';
import { connectionOf } from './open-session.ts';

const repository = { access_token: 't', repository_owner: 'acme', repository_name: 'shop' };
const check = (given: Parameters<typeof connectionOf>[0]) => githubDestination.check!(connectionOf(given));
const organization = { access_token: 't', secrets_location: 'organization', organization_name: 'acme' };

describe('gh (codehost)', () => {
  test('repository_name is also taken as repisitory_name', () => {
    expect(fieldSpec(GithubConnection.properties.repository_name).aliases).toEqual(['repisitory_name']);
  });

  test('access_token, or app_name with installation_id, is required', () => {
    expect(check(repository)).toEqual([]);
    expect(secretFields(GithubConnection)).toEqual(['access_token']);
    const place = { repository_owner: 'acme', repository_name: 'shop' };
    expect(check({ ...place, app_name: 'sync', installation_id: 1 })).toEqual([]);
    expect(check(place)).toEqual(['access_token, or app_name and installation_id, is required']);
    expect(check({ ...place, app_name: 'sync' })).toEqual(['installation_id is required with app_name']);
    expect(check({ ...repository, app_name: 'sync', installation_id: 1 })).toEqual(['access_token and app_name exclude each other']);
    expect(check({ ...repository, installation_id: 1 })).toEqual(['installation_id goes with app_name']);
  });

  test('secrets_location decides which names are required, and which have no meaning', () => {
    expect(check(organization)).toEqual([]);
    expect(check({ access_token: 't' })).toEqual([
      'repository_owner is required where secrets_location is repository',
      'repository_name is required where secrets_location is repository',
    ]);
    expect(check({ ...organization, organization_name: '' })[0]).toContain('organization_name is required');
    expect(check({ ...organization, environment_name: 'production' })[0]).toContain('environment_name has no meaning');
    expect(check({ ...repository, organization_name: 'acme' })[0]).toContain('organization_name has no meaning');
  });

  test('repository_owner, repository_name, organization_name and environment_name cannot lead to another address', () => {
    for (const repository_name of ['acme/shop', '..', 'shop?x=1', 'a b']) {
      expect(check({ ...repository, repository_name })).toEqual(['repository_name must be a name alone, without "/"']);
    }
    expect(check({ ...repository, environment_name: 'with/slash and space' })).toEqual([]);
    expect(check({ ...repository, environment_name: '..' })).toEqual(['environment_name must be a name']);
  });

  test('organization_visibility "selected" and selected_repository_names go together', () => {
    expect(check({ ...organization, organization_visibility: 'selected', selected_repository_names: ['shop'] })).toEqual([]);
    expect(check({ ...organization, organization_visibility: 'selected' })[0]).toContain('selected_repository_names is required');
    expect(check({ ...organization, selected_repository_names: ['shop'] })[0]).toContain('goes with');
    expect(check({ ...organization, organization_visibility: 'selected', selected_repository_names: ['acme/shop'] })[0]).toContain('alone');
  });

  test('enterprise_url is an https address, below which the API is found', () => {
    expect(check({ ...repository, enterprise_url: 'http://github.example' })[0]).toContain('https');
    expect(apiAddress(undefined)).toBe('https://api.github.com');
    expect(apiAddress('https://github.example.com/')).toBe('https://github.example.com/api/v3');
    expect(apiAddress('https://github.example.com/api/v3')).toBe('https://github.example.com/api/v3');
    expect(apiAddress('https://api.octo.ghe.com')).toBe('https://api.octo.ghe.com');
    expect(apiAddress('https://octo.ghe.com/')).toBe('https://api.octo.ghe.com');
    expect(apiAddress('https://github.com')).toBe('https://api.github.com');
    expect(apiAddress('https://ghe.com.evil.example')).toBe('https://ghe.com.evil.example/api/v3');
  });

  test('names become upper case with underscores, and may not begin with GITHUB_', () => {
    const { name, maxCount } = githubDestination.limits(connectionOf(repository));
    expect(name.normalize('vault/kv_1234/my-secret')).toBe('VAULT_KV_1234_MY_SECRET');
    expect(name.normalize('1st')).toBe('_1ST');
    expect(nameComplaint(name, 'GITHUB_TOKEN')).toContain('not with GITHUB_');
    expect(nameComplaint(name, 'A_GITHUB_TOKEN')).toBeUndefined();
    expect(maxCount).toBe(100);
    expect(githubDestination.limits(connectionOf(organization)).maxCount).toBe(1000);
  });

  test('a github-apps account shows the fingerprint that GitHub shows, and must have an RSA key', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
    const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
    const digest = execFileSync('openssl', ['sha256', '-binary'], { input: der }).toString('base64');
    const describeAccount = githubDestination.accounts!.describe!;
    expect(describeAccount({ app_id: 1, private_key: pem })).toEqual({ fingerprint: `SHA256:${digest}` });
    expect(() => describeAccount({ app_id: 1, private_key: 'not a key' })).toThrow('private_key is not a PEM private key');
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    expect(() => describeAccount({ app_id: 1, private_key: other })).toThrow('must be an RSA key');
  });
});
