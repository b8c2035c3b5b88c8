import { BadRequest } from '@strongroom/engine-sdk';

/** What a URL of an authenticator says; undefined where it says nothing. */
export interface OtpauthSource {
  readonly key: string;
  readonly issuer?: string;
  readonly account_name: string;
  readonly algorithm?: string;
  readonly digits?: number;
  readonly period?: number;
}

/** @throws BadRequest without the URL, which holds the key. */
export function otpauthSource(text: string): OtpauthSource {
  const url = parsed(text);
  if (url.protocol !== 'otpauth:') throw new BadRequest('url must begin with otpauth://totp/');
  if (url.hostname.toLowerCase() !== 'totp')
    throw new BadRequest('url must begin with otpauth://totp/: other types of codes are not supported');
  const { issuer, account } = labelOf(url);
  const asked = url.searchParams.get('issuer') || issuer;
  const digits = numberIn(url, 'digits');
  const period = numberIn(url, 'period');
  return {
    key: url.searchParams.get('secret') ?? '',
    account_name: account,
    ...(asked ? { issuer: asked } : {}),
    ...(url.searchParams.get('algorithm') ? { algorithm: url.searchParams.get('algorithm')! } : {}),
    ...(digits === undefined ? {} : { digits }),
    ...(period === undefined ? {} : { period }),
  };
}

function parsed(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new BadRequest('an error occurred while parsing url string: url must be like otpauth://totp/Issuer:name?secret=…');
  }
}

function labelOf(url: URL): { issuer: string; account: string } {
  let label: string;
  try {
    label = decodeURIComponent(url.pathname.replace(/^\//, ''));
  } catch {
    throw new BadRequest('an error occurred while parsing the label in url: it is not percent-encoded text');
  }
  const colon = label.indexOf(':');
  return { issuer: colon < 0 ? '' : label.slice(0, colon), account: label.slice(colon + 1).trim() };
}

function numberIn(url: URL, name: string): number | undefined {
  const text = url.searchParams.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[0-9]{1,9}$/.test(text)) throw new BadRequest(`an error occurred while parsing ${name} value in url`);
  return Number(text);
}
