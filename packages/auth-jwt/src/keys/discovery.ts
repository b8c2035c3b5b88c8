import { own } from '@strongroom/engine-sdk';
import { claimAt, type JsonObject } from '../json/json-pointer.ts';
import { getJson } from './get-json.ts';
import { IssuerRefused, type IssuerCall, type IssuerHttp } from './issuer-http.ts';
import type { Copy } from './refreshing-cache.ts';

/** The document by which an OpenID provider describes itself (OpenID Connect Discovery 1.0). */
export interface DiscoveryDocument {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Everything that it says, the above included. */
  readonly metadata: JsonObject;
}

const WELL_KNOWN = '/.well-known/openid-configuration';

/**
 * The discovery document of an issuer, by the address that tokens name it by.
 * @throws IssuerFailed, IssuerRefused, also for a document that calls its issuer otherwise
 */
export async function fetchDiscovery(http: IssuerHttp, url: string, call: IssuerCall): Promise<Copy<DiscoveryDocument>> {
  const { body, maxAge } = await getJson(http, `${url.replace(/\/$/, '')}${WELL_KNOWN}`, call);
  const issuer = text(body, 'issuer', url);
  if (issuer !== url) {
    throw new IssuerRefused(
      `the discovery document at ${url} is of the issuer ${JSON.stringify(issuer)}: oidc_discovery_url must be its name to the letter`,
    );
  }
  return { value: { issuer, jwksUri: text(body, 'jwks_uri', url), metadata: body }, maxAge };
}

function text(document: JsonObject, name: string, url: string): string {
  const value = own(document, name);
  if (typeof value !== 'string' || value === '') throw new IssuerRefused(`the discovery document at ${url} has no ${name}`);
  return value;
}

/** An address of the provider, such as its `token_endpoint`; undefined where it names none. */
export function endpointOf({ metadata }: DiscoveryDocument, name: string): string | undefined {
  const value = claimAt(metadata, name);
  return typeof value === 'string' && /^https?:\/\//i.test(value) ? value : undefined;
}
