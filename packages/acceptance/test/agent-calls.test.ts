import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { approleAuth } from '@strongroom/auth-approle';
import { certAuth } from '@strongroom/auth-cert';
import { jwtAuth } from '@strongroom/auth-jwt';
import { kubernetesAuth } from '@strongroom/auth-kubernetes';
import type { Core } from '@strongroom/core';
import { API_VERSION, f, issue, path, type EnginePackage, type SecretType } from '@strongroom/engine-sdk';
import { checkedCore, manualClock } from '@strongroom/engine-testkit';
import { createHttpServer } from '@strongroom/http';
import { kvEngine } from '@strongroom/kv';
import { makeCertificate, startKubernetesApi, startOidcIssuer, type KubernetesApi, type OidcIssuer } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { Type } from 'typebox';
import { Agent, request } from 'undici';
import { agentScenarios, type AgentCall } from './agent-calls.ts';
import { fleetScenarios } from './fleet-calls.ts';

const Empty = Type.Object({});
const password: SecretType<typeof Empty> = {
  type: 'password',
  internal: Empty,
  renew: async () => ({ ttl: 600, maxTtl: 1_000 }),
  revoke: async () => undefined,
};

/** Passwords with a lease of ten minutes, which lasts at most 1,000 seconds. */
const leasedEngine: EnginePackage = {
  name: 'leased',
  kind: 'secret',
  apiVersion: API_VERSION,
  create: () => ({
    secrets: [password],
    paths: [
      path('creds/{name}', { synopsis: 'A password.', description: 'With a lease.', fields: { name: f.name('Whose.') } }).read({
        summary: 'Get a password',
        handle: async () => ({
          data: { password: 'p' },
          secret: issue(password, { internal: {}, terms: { ttl: 600, maxTtl: 1_000 } }),
        }),
      }),
    ],
  }),
};

const POLICY = `
path "secret/*" { capabilities = ["read", "list"] }
path "old/*" { capabilities = ["read"] }
path "leased/creds/*" { capabilities = ["read"] }
path "auth/token/create" { capabilities = ["create", "update"] }`;

describe('the calls of the agent, the proxy and clients of fleets, over TLS', () => {
  const clock = manualClock();
  const ca = makeCertificate({ subject: 'CN=Root', authority: true });
  const web = makeCertificate({ subject: 'CN=web', issuer: ca });
  const own = makeCertificate({ subject: 'CN=localhost', names: ['IP:127.0.0.1'], issuer: ca, extendedKeyUsage: [] });
  const bare = new Agent({ connect: { ca: ca.pem } });
  const certified = new Agent({ connect: { ca: ca.pem, cert: web.pem, key: web.key } });
  const kept = new Map<string, string>([
    ['operator', 'root'],
    ['ca', ca.pem],
  ]);
  let core: Core;
  let server: Server;
  let address: string;
  let issuer: OidcIssuer;
  let cluster: KubernetesApi;

  const send = async (sent: AgentCall): Promise<{ status: number; body: unknown }> => {
    const [method, target] = sent.call.split(' ') as [string, string];
    const as = sent.as ?? 'token';
    const response = await request(`${address}/v1/${target}`, {
      method: method as 'GET',
      dispatcher: sent.certificate ? certified : bare,
      headers: {
        'X-Vault-Request': 'true',
        'User-Agent': 'OpenBao Agent/2.0.0 (+https://www.openbao.org/; go1.25)',
        ...(as === 'nobody' ? {} : { 'X-Vault-Token': kept.get(as)! }),
        ...(sent.wrap === undefined ? {} : { 'X-Vault-Wrap-TTL': sent.wrap }),
      },
      ...(sent.body === undefined ? {} : { body: Buffer.from(JSON.stringify(filled(sent.body))) }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text };
  };

  const filled = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(/^\$(\w+)$/, (whole, name: string) => current(name) ?? kept.get(name) ?? whole);
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner)]));
  };

  /** What a platform puts into the agent's files, as it is now. */
  const current = (name: string): string | undefined => {
    if (name === 'jwt') return issuer.sign({ sub: 'app', aud: 'strongroom' });
    if (name === 'oldJwt') return issuer.sign({ sub: 'app', aud: 'strongroom', iat: issuer.clock() - 900, exp: issuer.clock() - 300 });
    return name === 'pod' ? cluster.issue({ audiences: ['strongroom'] }) : undefined;
  };

  const operator = async (call: string, body: Record<string, unknown>): Promise<void> => {
    const { status, body: answer } = await send({ does: 'sets up', call, as: 'operator', body });
    if (status >= 300) throw new Error(`${call}: ${status} ${JSON.stringify(answer)}`);
  };

  beforeAll(async () => {
    core = await checkedCore({
      storage: memoryStorage(),
      plugins: [kvEngine, approleAuth, certAuth, jwtAuth, kubernetesAuth, leasedEngine],
      devRootToken: 'root',
      clock,
    });
    server = createHttpServer(core, { tls: { cert: own.pem, key: own.key, requestCert: true, rejectUnauthorized: false } }) as Server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    issuer = await startOidcIssuer();
    issuer.clock = () => Math.floor(clock.millis() / 1_000);
    cluster = await startKubernetesApi({ now: () => clock.millis() });
    for (const type of ['approle', 'jwt', 'kubernetes', 'cert']) await operator(`PUT sys/auth/${type}`, { type });
    await operator('PUT sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    await operator('PUT sys/mounts/old', { type: 'kv', options: { version: '1' } });
    await operator('PUT sys/mounts/leased', { type: 'leased' });
    await operator('PUT secret/data/app', { data: { user: 'app' } });
    await operator('PUT old/app', { user: 'app' });
    await operator('PUT sys/policies/acl/app', { policy: POLICY });
    await operator('PUT auth/jwt/config', { jwks_url: issuer.jwksUrl });
    await operator('PUT auth/kubernetes/config', {
      kubernetes_host: cluster.url,
      kubernetes_ca_cert: cluster.ca,
      token_reviewer_jwt: cluster.reviewer,
    });
  });
  afterAll(async () => {
    await bare.close();
    await certified.close();
    server?.closeAllConnections();
    server?.close();
    await core?.close();
    await issuer?.stop();
    await cluster?.stop();
  });

  for (const { title, calls } of [...agentScenarios, ...fleetScenarios]) {
    describe(title, () => {
      for (const [index, sent] of calls.entries()) {
        test(`${index + 1}. ${sent.does}`, async () => {
          if (sent.after !== undefined) {
            await clock.advance(sent.after);
            await core.settleSchedule();
          }
          const { status, body } = await send(sent);
          expect({ call: sent.call, status, body }).toMatchObject({ call: sent.call, status: sent.status ?? 200 });
          for (const [place, wanted] of Object.entries(sent.finds ?? {})) {
            const found = dig(body, place);
            if (wanted instanceof RegExp) expect([place, found]).toEqual([place, expect.stringMatching(wanted)]);
            else expect([place, found]).toEqual([place, filled(wanted)]);
          }
          for (const [name, place] of Object.entries(sent.keep ?? {})) {
            expect([place, dig(body, place)]).toEqual([place, expect.stringMatching(/./)]);
            kept.set(name, dig(body, place) as string);
          }
        });
      }
    });
  }
});

function dig(body: unknown, place: string): unknown {
  return place.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null | undefined)?.[key], body);
}
