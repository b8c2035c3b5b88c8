import { afterAll } from '@jest/globals';
import type { CoreResponse } from '@strongroom/core';
import type { Log } from '@strongroom/engine-sdk';
import { mountForTest, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import { addOpenidProvider, startOidcIssuer, visitProvider, type OidcIssuer, type OpenidProvider, type SentBack } from '@strongroom/lab';
import { oidcAuth } from '../../src/index.ts';

/** Where a command line listens. */
export const LOCAL = 'http://localhost:8250/oidc/callback';
/** The callback of the server, as browsers reach it. */
export const DIRECT = 'http://127.0.0.1:8200/v1/auth/oidc/oidc/callback';
/** Of the program that begins a login. */
export const NONCE = 'nonce-of-the-program';

export interface LoginLab extends TestMount {
  readonly issuer: OidcIssuer;
  readonly provider: OpenidProvider;
  readonly lines: string[];
  config(more?: Readonly<Record<string, unknown>>): Promise<void>;
  role(name: string, more?: Readonly<Record<string, unknown>>): Promise<void>;
  /** `oidc/auth_url`; the data over a client nonce and LOCAL. */
  begin(data?: Readonly<Record<string, unknown>>): Promise<CoreResponse>;
  /** Opens the page of a begun login as the person at the provider. */
  visit(begun: CoreResponse): Promise<SentBack>;
  /** The callback by GET with what the provider sent back, and the nonce of the program unless it is replaced. */
  callback(back: Pick<SentBack, 'fields'>, more?: Readonly<Record<string, string>>): Promise<CoreResponse>;
  /** The callback of a browser: without a nonce. */
  browse(back: Pick<SentBack, 'fields'>, more?: Readonly<Record<string, string>>): Promise<CoreResponse>;
  poll(state: string, nonce?: string): Promise<CoreResponse>;
  /** A whole login with a browser. */
  login(role?: string): Promise<CoreResponse>;
}

/** Keys take long to make: one issuer for all tests of a file. */
let issuers: Promise<OidcIssuer> | undefined;
afterAll(async () => (await issuers)?.stop());

export interface LoginLabOptions extends TestMountOptions {
  /** Of another server of the same store. */
  readonly beside?: LoginLab;
}

/** The login method in a whole core, with an emulated provider whose clock is the core's. */
export async function loginLab({ beside, ...options }: LoginLabOptions = {}): Promise<LoginLab> {
  const lines: string[] = [];
  const keep = (message: string, fields: object = {}): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const issuer = await (issuers ??= startOidcIssuer());
  issuer.outage();
  const provider = beside?.provider ?? addOpenidProvider(issuer);
  const mount = await mountForTest(oidcAuth, { log, ...options });
  issuer.clock = () => Math.floor(mount.clock.millis() / 1_000);
  const at = `${mount.path}/oidc`;
  const call = async (operation: 'read' | 'update', path: string, data: Readonly<Record<string, unknown>>): Promise<CoreResponse> =>
    mount.call(operation, `${at}/${path}`, { data, token: '' });
  const browse: LoginLab['browse'] = (back, more = {}) => call('read', 'callback', { ...Object.fromEntries(back.fields), ...more });
  const lab: LoginLab = {
    ...mount,
    issuer,
    provider,
    lines,
    config: async (more = {}) => {
      const client = { oidc_client_id: 'lab-client', oidc_client_secret: 'lab-secret', default_role: 'web' };
      await mount.write('config', { oidc_discovery_url: issuer.url, ...client, ...more });
    },
    role: async (name, more = {}) => {
      const claims = { user_claim: 'email', groups_claim: 'groups', oidc_scopes: 'email', claim_mappings: { name: 'full_name' } };
      await mount.write(`role/${name}`, { ...claims, allowed_redirect_uris: LOCAL, token_policies: 'web', token_ttl: '10m', ...more });
    },
    begin: (data = {}) => call('update', 'auth_url', { redirect_uri: LOCAL, client_nonce: NONCE, ...data }),
    visit: (begun) => visitProvider(dataOf(begun)['auth_url'] ?? ''),
    callback: (back, more = {}) => browse(back, { client_nonce: NONCE, ...more }),
    browse,
    poll: (state, nonce = NONCE) => call('update', 'poll', { state, client_nonce: nonce }),
    login: async (role = 'web') => lab.callback(await lab.visit(await lab.begin({ role }))),
  };
  return lab;
}

/** The data of an answer, all of whose values are texts. */
export function dataOf(answer: CoreResponse): Readonly<Record<string, string>> {
  return (answer.data ?? {}) as Readonly<Record<string, string>>;
}

/** Status and texts of a refusal. */
export function refusalOf({ status, errors }: CoreResponse): string {
  return `${status} ${(errors ?? []).join('; ')}`;
}

/** The HTML of a page. */
export function pageOf(answer: CoreResponse): string {
  return String(answer.raw?.body ?? '');
}
