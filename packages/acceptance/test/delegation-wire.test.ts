import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RunningServer } from '@strongroom/server';
import { startMemoryServer } from './memory-server.ts';

const ATTEMPT = 'sys/generate-root-token/attempt';

interface Reply {
  readonly status: number;
  readonly body: {
    readonly errors?: string[];
    readonly data?: Record<string, unknown> | null;
    readonly wrap_info?: { readonly token: string; readonly ttl: number } | null;
    readonly warnings?: string[] | null;
  };
}

describe('delegation over HTTP', () => {
  let server: RunningServer;
  let address: string;
  const call = async (method: string, path: string, { token = 'root', ttl = '', body = '' } = {}): Promise<Reply> => {
    const headers = { ...(token === '' ? {} : { 'X-Vault-Token': token }), ...(ttl === '' ? {} : { 'X-Vault-Wrap-TTL': ttl }) };
    const reply = await fetch(`${address}/v1/${path}`, { method, headers, ...(body === '' ? {} : { body }) });
    const text = await reply.text();
    return { status: reply.status, body: text === '' ? {} : (JSON.parse(text) as Reply['body']) };
  };

  beforeAll(async () => {
    ({ server, address } = await startMemoryServer());
  });
  afterAll(async () => server.stop());

  test('X-Vault-Wrap-TTL of half a second wraps for one, as root too, and escapes no policy', async () => {
    const half = await call('GET', 'auth/token/lookup-self', { ttl: '500ms' });
    expect(half.body).toMatchObject({ data: null, wrap_info: { ttl: 1 }, warnings: null });
    const long = await call('GET', 'auth/token/lookup-self', { ttl: '2000h' });
    expect(long.body.wrap_info!.ttl).toBe(2_764_800);
    expect(long.body.warnings).toEqual(['TTL of "2000h" exceeded the effective max_ttl of "768h"; TTL value is capped accordingly']);
    const policy = 'path "auth/token/lookup-self" { capabilities = ["read"] min_wrapping_ttl = "2s" max_wrapping_ttl = "60s" }';
    await call('PUT', 'sys/policies/acl/sealed', { body: JSON.stringify({ policy }) });
    const made = await call('POST', 'auth/token/create', { body: JSON.stringify({ policies: ['sealed'], no_default_policy: true }) });
    const token = (made.body as { auth: { client_token: string } }).auth.client_token;
    const seen: unknown[] = [];
    for (const ttl of ['', '0', '500ms', '1500ms', '1m', '60500ms', '61']) {
      const { status, body } = await call('GET', 'auth/token/lookup-self', { token, ttl });
      seen.push(body.wrap_info?.ttl ?? status);
    }
    expect(seen).toEqual([403, 403, 403, 2, 60, 403, 403]);
  });

  test('a stranger cancels no root generation; its nonce in the query does, and so does a token that may', async () => {
    const nonce = (await call('PUT', ATTEMPT, { token: '' })).body.data!['nonce'] as string;
    expect(nonce).not.toBe('');
    expect((await call('GET', ATTEMPT, { token: '' })).body.data).toMatchObject({ started: true, nonce: '' });
    expect((await call('DELETE', ATTEMPT, { token: '' })).status).toBe(403);
    expect((await call('DELETE', `${ATTEMPT}?nonce=x`, { token: '' })).status).toBe(400);
    expect((await call('GET', ATTEMPT)).body.data).toMatchObject({ started: true, nonce });
    expect((await call('DELETE', `${ATTEMPT}?nonce=${nonce}`, { token: '' })).status).toBe(204);
    await call('PUT', ATTEMPT, { token: '' });
    expect((await call('DELETE', ATTEMPT)).status).toBe(204);
    expect((await call('GET', ATTEMPT)).body.data).toMatchObject({ started: false });
  });
});
