import { createPublicKey } from 'node:crypto';
import { startOidcIssuer, type IssuerAlgorithm, type OidcIssuer } from '@strongroom/lab';
import { compactVerify } from 'jose';
import type { BenchServer } from './bench-server.ts';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Figures, type Operation } from './load.ts';
import { cpuMicros } from './process-usage.ts';

const TOKENS = 50;
const BARE_CHECKS = 4_000;

export interface JwtFigures {
  /** Durable tokens, for JWTs signed with RS256. */
  readonly login: Figures;
  /** Batch tokens, which are not stored: what is left is the check and the request. */
  readonly batch: Figures;
  /** Batch tokens, for JWTs signed with ES256, whose check costs more. */
  readonly batchEs256: Figures;
  /** CPU of one signature check by the library alone, in this process, 32 at a time. Microseconds. */
  readonly bareCheckMicros: Readonly<Record<'RS256' | 'ES256', number>>;
}

/** Logins over HTTP with 50 JWTs in turn, whose keys come from a key set. */
export async function jwtLogins({ target }: BenchServer, seconds: number): Promise<JwtFigures> {
  const issuer = await startOidcIssuer();
  try {
    await once(target, 'POST', '/v1/sys/auth/jwt', { type: 'jwt' });
    await once(target, 'POST', '/v1/auth/jwt/config', { jwks_url: issuer.jwksUrl });
    const role = { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'bench', bound_claims: { ref: 'main' }, token_policies: 'dev' };
    await once(target, 'POST', '/v1/auth/jwt/role/service', { ...role, token_ttl: '1h' });
    await once(target, 'POST', '/v1/auth/jwt/role/batch', { ...role, token_ttl: '1h', token_type: 'batch' });
    const run = async (name: string, roleName: string, alg: IssuerAlgorithm): Promise<Figures> => {
      const texts = tokensOf(issuer, alg).map((jwt) =>
        requestText('POST', '/v1/auth/jwt/login', '', JSON.stringify({ role: roleName, jwt })),
      );
      const operation: Operation = async (connection, random) => repeat(texts[Math.floor(random() * TOKENS)]!)(connection, random);
      await load('warm up', target, operation, { seconds: 1 });
      return load(name, target, operation, { seconds });
    };
    const login = await run('jwt login', 'service', 'RS256');
    const batch = await run('  batch', 'batch', 'RS256');
    const batchEs256 = await run('  batch ES256', 'batch', 'ES256');
    return {
      login,
      batch,
      batchEs256,
      bareCheckMicros: { RS256: await bareCheck(issuer, 'RS256'), ES256: await bareCheck(issuer, 'ES256') },
    };
  } finally {
    await issuer.stop();
  }
}

function tokensOf(issuer: OidcIssuer, alg: IssuerAlgorithm): string[] {
  return Array.from({ length: TOKENS }, (_, i) =>
    issuer.sign({ sub: `job-${i}`, aud: 'bench', ref: 'main', repository: 'org/app' }, { alg }),
  );
}

async function bareCheck(issuer: OidcIssuer, alg: IssuerAlgorithm): Promise<number> {
  const key = createPublicKey(issuer.publicKey(alg));
  const tokens = tokensOf(issuer, alg);
  let left = BARE_CHECKS;
  const before = cpuMicros(process.pid);
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left > 0) await compactVerify(tokens[(left -= 1) % TOKENS]!, key);
    }),
  );
  return Math.round((cpuMicros(process.pid) - before) / BARE_CHECKS);
}
