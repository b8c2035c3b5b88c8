import { createHash } from 'node:crypto';
import { EngineError, type Clock } from '@strongroom/engine-sdk';
import type { OutsideHttp } from '../outside-http.ts';
import { httpUrl } from '../outside-url.ts';
import type { TrustedRole } from '../role-store.ts';
import type { Certificate } from '../x509/certificate.ts';
import { ocspQuestion } from './ocsp-request.ts';
import { readOcspResponse, ResponseRefused, type OcspStatus } from './ocsp-response.ts';
import type { ResponseCache } from './response-cache.ts';

/** What the responders of a role say together. `errors`: of those that could not be asked or believed. */
export interface OcspVerdict {
  readonly status: OcspStatus['status'];
  readonly errors: readonly string[];
}

export interface OcspParts {
  readonly http: OutsideHttp;
  readonly clock: Clock;
  readonly cache: ResponseCache;
  randomBytes(count: number): Uint8Array;
}

const ANSWER_MILLIS = 5_000;
const LONGEST_RESPONSE = 64 * 1024;
/** A certificate may name any number of responders. */
const MOST_SERVERS = 5;

/**
 * Asks whether a certificate is revoked, by the settings of one role: its responders, or those that the certificate names. Without `ocsp_query_all_servers` the
 * first that answers `good` or `revoked` decides. With it, `revoked` of any decides, and `good` needs all of them.
 */
export async function askResponders(
  { role, ocspAuthorities }: TrustedRole,
  certificate: Certificate,
  issuer: Certificate,
  { http, clock, cache, randomBytes }: OcspParts,
  signal: AbortSignal,
): Promise<OcspVerdict> {
  const servers = (role.ocsp_servers_override.length > 0 ? role.ocsp_servers_override : certificate.ocspServers).slice(0, MOST_SERVERS);
  if (servers.length === 0) return { status: 'unknown', errors: ['the certificate names no OCSP responder, and the role has none'] };
  const ask = async (server: string): Promise<OcspStatus | string> => {
    const url = httpUrl(server);
    if (!url) return 'a responder of the certificate has a URL that is not http or https';
    const key = keyOf([server, certificate.digest, issuer.digest, role.ocsp_ca_certificates]);
    const known = cache.get(key, clock.millis());
    if (known) return known;
    const question = ocspQuestion(certificate, issuer, randomBytes(16));
    const body = { bytes: question.request, type: 'application/ocsp-request' };
    try {
      const what = 'the OCSP responder';
      const answer = await http.ask({ url, what, body, maxBytes: LONGEST_RESPONSE, millis: ANSWER_MILLIS, signal });
      const status = readOcspResponse(answer, question, ocspAuthorities, clock.millis());
      cache.put(key, status);
      return status;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EngineError) return error.message;
      if (error instanceof ResponseRefused) return `the response of the OCSP responder ${url.host} cannot be used: ${error.message}`;
      throw error;
    }
  };
  return role.ocsp_query_all_servers ? allOf(await Promise.all(servers.map(ask))) : firstOf(servers, ask);
}

async function firstOf(servers: readonly string[], ask: (server: string) => Promise<OcspStatus | string>): Promise<OcspVerdict> {
  const errors: string[] = [];
  for (const server of servers) {
    const answer = await ask(server);
    if (typeof answer === 'string') errors.push(answer);
    else if (answer.status === 'unknown') errors.push(`the OCSP responder ${new URL(server).host} does not know the certificate`);
    else return { status: answer.status, errors: [] };
  }
  return { status: 'unknown', errors };
}

function allOf(answers: readonly (OcspStatus | string)[]): OcspVerdict {
  const errors = answers.flatMap((answer) => {
    if (typeof answer === 'string') return answer;
    return answer.status === 'unknown' ? 'an OCSP responder does not know the certificate' : [];
  });
  const revoked = answers.some((answer) => typeof answer !== 'string' && answer.status === 'revoked');
  return { status: revoked ? 'revoked' : errors.length > 0 ? 'unknown' : 'good', errors };
}

function keyOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
