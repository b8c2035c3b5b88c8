import { readJson } from '@strongroom/engine-sdk';
import type { JsonObject } from '../json/json-pointer.ts';
import { IssuerRefused, type IssuerCall, type IssuerHttp } from './issuer-http.ts';

/** A JSON object, and for how long its sender says that it stays as it is: seconds, undefined where it does not say. */
export interface Fetched {
  readonly body: JsonObject;
  readonly maxAge: number | undefined;
}

const LIMITS = { maxDepth: 16, maxStrings: 20_000, maxValues: 20_000 };

/** GETs a JSON object. @throws IssuerFailed, IssuerRefused */
export async function getJson(http: IssuerHttp, url: string, call: IssuerCall): Promise<Fetched> {
  const { status, headers, body } = await http.call(url, call);
  if (status !== 200) throw new IssuerRefused(`${url} answers ${status}`);
  return { body: objectIn(body, url), maxAge: maxAgeOf(headers['cache-control'] ?? '') };
}

function objectIn(body: Buffer, url: string): JsonObject {
  let value: unknown;
  try {
    value = readJson(body, LIMITS);
  } catch (error) {
    throw new IssuerRefused(`${url} does not answer with JSON`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new IssuerRefused(`${url} does not answer with an object`);
  return value as JsonObject;
}

/** `no-cache` and `no-store` count as an age of 0. */
function maxAgeOf(cacheControl: string): number | undefined {
  if (/\bno-(cache|store)\b/i.test(cacheControl)) return 0;
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(cacheControl)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
