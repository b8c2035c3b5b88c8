import { own } from '@strongroom/engine-sdk';
import type { JsonObject } from '../json/json-pointer.ts';
import { tokenRefused } from './token-refused.ts';

/** @throws BadRequest unless the token is of this issuer; '' accepts any */
export function checkIssuer(claims: JsonObject, issuer: string): void {
  if (issuer !== '' && own(claims, 'iss') !== issuer) throw tokenRefused('invalid issuer (iss) claim');
}

/** @throws BadRequest unless the token is of this subject; '' accepts any */
export function checkSubject(claims: JsonObject, subject: string): void {
  if (subject !== '' && own(claims, 'sub') !== subject) throw tokenRefused('invalid subject (sub) claim');
}

/** @throws BadRequest unless the token is for one of these audiences, which are not none */
export function checkAudience(claims: JsonObject, audiences: readonly string[]): void {
  if (!audiencesOf(claims).some((audience) => audiences.includes(audience))) {
    throw tokenRefused('invalid audience (aud) claim: audience claim does not match any expected audience');
  }
}

/** Whom the token is for, whether its `aud` is one text or a list; empty where it does not say. @throws BadRequest for anything else */
export function audiencesOf(claims: JsonObject): readonly string[] {
  const aud = own(claims, 'aud');
  if (aud === undefined) return [];
  const list: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!list.every((one) => typeof one === 'string')) throw tokenRefused('invalid audience (aud) claim: neither a text nor a list of texts');
  return list as readonly string[];
}
