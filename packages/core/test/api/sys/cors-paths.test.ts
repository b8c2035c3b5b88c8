import { beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryView } from '@strongroom/engine-testkit';
import { CorsConfig } from '../../../src/services/settings/cors-config.ts';
import { corsPaths } from '../../../src/api/sys/path-cors.ts';
import { call, type Answer } from '../../services/identity/call.ts';

const standard =
  'Content-Type,Authorization,X-Vault-Token,X-Vault-MFA,X-Vault-No-Request-Forwarding,X-Vault-Wrap-Format,X-Vault-Wrap-TTL,X-Requested-With,X-Vault-AWS-IAM-Server-ID,X-Vault-Policy-Override';
let storage: MemoryView;
let cors: CorsConfig;

beforeEach(() => {
  storage = new MemoryView();
  cors = new CorsConfig(storage);
});

const ask = (operation: Parameters<typeof call>[1], body?: Record<string, unknown>): Promise<Answer> =>
  call(corsPaths({ cors }), operation, 'config/cors', body);

describe('sys/config/cors', () => {
  test('is off at first, and off again when deleted', async () => {
    expect(await ask('read')).toEqual({ status: 200, data: { enabled: false } });
    expect(await ask('update', { allowed_origins: '*' })).toMatchObject({ status: 204 });
    expect(cors.enabled).toBe(true);
    expect(await ask('delete')).toMatchObject({ status: 204 });
    expect(await ask('read')).toEqual({ status: 200, data: { enabled: false } });
  });

  test('adds to the standard headers', async () => {
    await ask('update', { allowed_origins: ['https://a.example', 'https://b.example'], allowed_headers: 'X-Mine,x-vault-token' });
    expect(await ask('read')).toEqual({
      status: 200,
      data: {
        enabled: true,
        allowed_origins: ['https://a.example', 'https://b.example'],
        allowed_headers: [...standard.split(','), 'X-Mine'],
        allow_credentials: false,
      },
    });
  });

  test('refuses no origin, the wildcard beside others, and what is no header name', async () => {
    expect(await ask('update')).toMatchObject({ status: 400, errors: ['at least one origin or the wildcard must be provided'] });
    expect(await ask('update', { allowed_origins: '*,https://a.example' })).toMatchObject({
      status: 400,
      errors: ["to allow all origins the '*' must be the only value for allowed_origins"],
    });
    expect(await ask('update', { allowed_origins: '*', allowed_headers: ['X:\r\nSet-Cookie'] })).toMatchObject({ status: 400 });
    expect(cors.enabled).toBe(false);
  });

  test('is there after a restart and in other processes', async () => {
    await ask('update', { allowed_origins: 'https://a.example' });
    const other = new CorsConfig(storage);
    await other.load();
    expect(other.settings).toEqual(cors.settings);
  });
});

describe('a request of a browser', () => {
  test('passes while nothing is set, and without an origin', async () => {
    expect(cors.decide('GET', 'https://a.example')).toEqual({ kind: 'pass', headers: {} });
    await ask('update', { allowed_origins: 'https://a.example' });
    expect(cors.decide('OPTIONS', undefined)).toEqual({ kind: 'pass', headers: {} });
  });

  test('of an allowed origin passes with the headers that say so; of another one it is refused', async () => {
    await ask('update', { allowed_origins: 'https://a.example', allow_credentials: true });
    expect(cors.decide('GET', 'https://a.example')).toEqual({
      kind: 'pass',
      headers: {
        'Access-Control-Allow-Origin': 'https://a.example',
        Vary: 'Origin',
        'Access-Control-Allow-Credentials': 'true',
        'Access-Control-Expose-Headers': 'X-Strongroom-Request-Id',
      },
    });
    expect(cors.decide('GET', 'https://b.example')).toEqual({ kind: 'refused', status: 403, error: 'origin not allowed' });
  });

  test('that asks beforehand gets methods, headers and how long that holds', async () => {
    await ask('update', { allowed_origins: '*' });
    expect(cors.decide('OPTIONS', 'https://b.example', 'PUT')).toEqual({
      kind: 'preflight',
      headers: {
        'Access-Control-Allow-Origin': 'https://b.example',
        Vary: 'Origin',
        'Access-Control-Allow-Methods': 'DELETE,GET,OPTIONS,POST,PUT,LIST,SCAN',
        'Access-Control-Allow-Headers': standard,
        'Access-Control-Max-Age': '300',
      },
    });
    expect(cors.decide('OPTIONS', 'https://b.example', 'TRACE')).toEqual({ kind: 'refused', status: 405, error: '' });
  });
});
