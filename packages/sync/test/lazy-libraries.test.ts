import { describe, expect, jest, test } from '@jest/globals';

const LIBRARIES = [
  '@aws-sdk/client-secrets-manager',
  '@aws-sdk/credential-providers',
  '@azure/identity',
  '@azure/keyvault-secrets',
  '@google-cloud/secret-manager',
  'google-auth-library',
  'google-gax',
  '@octokit/auth-app',
  '@octokit/rest',
  'libsodium-wrappers',
  'undici',
];

const loaded: string[] = [];
for (const name of LIBRARIES) {
  jest.unstable_mockModule(name, () => {
    loaded.push(name);
    return jest.requireActual<object>(name);
  });
}

describe('a server that lists the destinations and uses none', () => {
  test('loads none of the libraries of the providers; the first use of one loads its own', async () => {
    const { createNetworkGuard } = await import('@strongroom/sync-sdk');
    const { realDestinations } = await import('./real-types.ts');
    const { syncEngine } = await import('../src/index.ts');
    expect([syncEngine.name, realDestinations.length]).toEqual(['sync', 5]);
    const guard = createNetworkGuard({ allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: false });
    expect(loaded).toEqual([]);
    expect(await guard.dispatcher()).toBe(await guard.dispatcher());
    expect(loaded).toEqual(['undici']);
    await guard.close();
    await expect(guard.dispatcher()).rejects.toMatchObject({ code: 'session_closed' });
  });
});
