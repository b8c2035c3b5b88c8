import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { shapeOf, type Shape } from '@strongroom/engine-testkit';
import { addOpenidProvider, startOidcIssuer, visitProvider, type OidcIssuer, type OpenidProvider } from '@strongroom/lab';
import { freePort, startServer, type ServerProcess } from '../src/server-process.ts';

/** A step of a login, as it was recorded: an answer with its shape, or values that the steps before gave. */
interface Step {
  readonly step: string;
  readonly status?: number;
  readonly type?: string;
  readonly body: unknown;
  readonly [more: string]: unknown;
}

interface Answer {
  readonly step: Step;
  readonly json: Record<string, Record<string, unknown>>;
}

const recorded = JSON.parse(readFileSync(new URL('./oidc-login-steps.json', import.meta.url), 'utf8')) as Step[];
const MOUNT = 'auth/lab-oidc';

/** Plays the program and the browser of three logins: with a browser, with a person who refuses, and with the server as the one who takes the callback. */
describe('the recorded steps of logins at a provider', () => {
  let issuer: OidcIssuer;
  let provider: OpenidProvider;
  let server: ServerProcess;
  beforeAll(async () => {
    issuer = await startOidcIssuer();
    provider = addOpenidProvider(issuer);
    const port = await freePort();
    server = await startServer(['-dev', '-dev-root-token-id=root', `-dev-listen-address=127.0.0.1:${port}`], `http://127.0.0.1:${port}`);
  });
  afterAll(async () => {
    await server?.stop();
    await issuer?.stop();
  });

  const call = async (step: string, method: string, path: string, body?: unknown, token?: string): Promise<Answer> => {
    const answer = await fetch(`${server.address}/v1/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(token === undefined ? {} : { headers: { 'X-Vault-Token': token } }),
    });
    const type = answer.headers.get('content-type')!.split(';')[0]!;
    const text = await answer.text();
    const json = text !== '' && type === 'application/json' ? (JSON.parse(text) as Answer['json']) : undefined;
    return { step: { step, status: answer.status, type, body: json === undefined ? 'null' : shapeOf(json) }, json: json ?? {} };
  };

  test('are answered as they were', async () => {
    const local = 'http://localhost:19150/oidc/callback';
    const direct = `${server.address}/v1/${MOUNT}/oidc/callback`;
    const steps: Step[] = [];
    const keep = async (...asked: Parameters<typeof call>): Promise<Answer['json']> => {
      const { step, json } = await call(...asked);
      steps.push(step);
      return json;
    };
    const backFrom = async (url: unknown): Promise<string> => (await visitProvider(String(url))).fields.toString();
    const queryOf = (step: string, url: unknown): Step => {
      const query = new URL(String(url)).searchParams;
      const values = Object.fromEntries(['scope', 'response_type', 'code_challenge_method'].map((name) => [name, query.get(name)]));
      return { step, body: [...query.keys()].sort(), ...values };
    };

    await call('', 'POST', 'sys/auth/lab-oidc', { type: 'oidc' }, 'root');
    const config = { oidc_discovery_url: issuer.url, oidc_client_id: 'lab-client', oidc_client_secret: 'lab-secret', default_role: 'web' };
    await keep('config', 'POST', `${MOUNT}/config`, config, 'root');
    const role = {
      user_claim: 'email',
      groups_claim: 'groups',
      oidc_scopes: 'email',
      claim_mappings: { name: 'full_name' },
      token_policies: 'web',
      token_ttl: '10m',
    };
    await keep('role', 'POST', `${MOUNT}/role/web`, { ...role, allowed_redirect_uris: 'http://localhost/oidc/callback' }, 'root');
    await keep('role direct', 'POST', `${MOUNT}/role/direct`, { ...role, allowed_redirect_uris: direct, callback_mode: 'direct' }, 'root');

    const begin = { role: '', redirect_uri: local, client_nonce: 'first-nonce' };
    const first = await keep('client: auth_url', 'POST', `${MOUNT}/oidc/auth_url`, begin);
    steps.push(queryOf('client: query of auth_url', first['data']!['auth_url']));
    const wrong = `${await backFrom(first['data']!['auth_url'])}&client_nonce=other`;
    await keep('client: callback without the nonce', 'GET', `${MOUNT}/oidc/callback?${wrong}`);
    const again = await call('', 'POST', `${MOUNT}/oidc/auth_url`, begin);
    const back = `${await backFrom(again.json['data']!['auth_url'])}&client_nonce=first-nonce`;
    const { auth } = await keep('client: callback', 'GET', `${MOUNT}/oidc/callback?${back}`);
    steps.push({ step: 'client: metadata', body: auth!['metadata'], policies: auth!['policies'], lease_duration: auth!['lease_duration'] });
    await keep('client: callback a second time', 'GET', `${MOUNT}/oidc/callback?${back}`);

    const denied = await keep('denied: auth_url', 'POST', `${MOUNT}/oidc/auth_url`, begin);
    steps.push(queryOf('denied: query of auth_url', denied['data']!['auth_url']));
    provider.person.consents = false;
    const refused = `${await backFrom(denied['data']!['auth_url'])}&client_nonce=first-nonce`;
    await keep('denied: callback', 'GET', `${MOUNT}/oidc/callback?${refused}`);
    provider.person.consents = true;

    const asked = { role: 'direct', redirect_uri: direct, client_nonce: 'second-nonce' };
    const { data } = await keep('direct: auth_url', 'POST', `${MOUNT}/oidc/auth_url`, asked);
    steps.push({ step: 'direct: poll_interval', body: data!['poll_interval'] });
    const poll = { state: data!['state'], client_nonce: 'second-nonce' };
    await keep('direct: poll', 'POST', `${MOUNT}/oidc/poll`, poll);
    const browser = await backFrom(data!['auth_url']);
    await keep('direct: callback asks for confirmation', 'GET', `${MOUNT}/oidc/callback?${browser}`);
    await keep('direct: poll', 'POST', `${MOUNT}/oidc/poll`, poll);
    await keep('direct: callback confirmed', 'GET', `${MOUNT}/oidc/callback?${browser}&confirmation=true`);
    await keep('direct: poll', 'POST', `${MOUNT}/oidc/poll`, poll);
    await keep('direct: poll again', 'POST', `${MOUNT}/oidc/poll`, poll);

    expect(steps.map(comparable)).toEqual(recorded.map(comparable));
  }, 60_000);
});

/** Shapes have no order of their keys. */
function comparable({ body, ...step }: Step): object {
  return { ...step, body: sorted(body as Shape) };
}

function sorted(shape: Shape): Shape {
  if (typeof shape !== 'object' || shape === null || Array.isArray(shape)) return shape;
  return Object.fromEntries(Object.entries(shape).map(([key, inner]) => [key, sorted(inner as Shape)]));
}
