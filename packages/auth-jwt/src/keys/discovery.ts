import { own } from '@strongroom/engine-sdk';
import type { JsonObject } from '../json/json-pointer.ts';
import { IssuerRefused } from './issuer-http.ts';

/** The document by which an OpenID provider describes itself (OpenID Connect Discovery 1.0). */
export interface DiscoveryDocument {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Everything that it says, the above included. */
  readonly metadata: JsonObject;
}

/** Where the document of an issuer is. */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/** What the document of an issuer says. @throws IssuerRefused, also for a document that calls its issuer otherwise */
export function readDiscovery(document: JsonObject, url: string): DiscoveryDocument {
  const issuer = text(document, 'issuer', url);
  if (issuer !== url) {
    throw new IssuerRefused(
      `the discovery document at ${url} is of the issuer ${JSON.stringify(issuer)}: oidc_discovery_url must be its name to the letter`,
    );
  }
  const jwksUri = text(document, 'jwks_uri', url);
  if (!isUsable(jwksUri, issuer))
    throw new IssuerRefused(
      `the discovery document at ${url} has a jwks_uri that is no address with ${hasTls(issuer) ? 'https' : 'http or https'}`,
    );
  return { issuer, jwksUri, metadata: document };
}

function text(document: JsonObject, name: string, url: string): string {
  const value = own(document, name);
  if (typeof value !== 'string' || value === '') throw new IssuerRefused(`the discovery document at ${url} has no ${name}`);
  return value;
}

/** An address of the provider, such as its `token_endpoint`; undefined where it names none that may be asked. */
export function endpointOf({ issuer, metadata }: DiscoveryDocument, name: string): string | undefined {
  const value = own(metadata, name);
  return typeof value === 'string' && isUsable(value, issuer) ? value : undefined;
}

/** What an issuer with TLS is asked, such as its token endpoint with the client secret, is never sent without. */
function isUsable(address: string, issuer: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && !hasTls(issuer));
}

function hasTls(issuer: string): boolean {
  return new URL(issuer).protocol === 'https:';
}
