import { BadRequest, thrownText } from '@strongroom/engine-sdk';
import { fetchDiscovery } from '../keys/discovery.ts';
import type { IssuerHttp } from '../keys/issuer-http.ts';
import { fetchJwks } from '../keys/jwks.ts';
import { pemKeys } from '../keys/pem-keys.ts';
import type { VerificationKey } from '../keys/verification-key.ts';
import type { JwtConfig } from './config.ts';
import { keySourceOf } from './setup.ts';

/**
 * Fetches the keys that a configuration names, as an operator's test: also where an earlier failure opened the circuit breaker.
 * @throws BadRequest that says which field leads nowhere, and why
 */
export async function trySource(config: JwtConfig, http: IssuerHttp, signal: AbortSignal): Promise<readonly VerificationKey[]> {
  const source = keySourceOf(config);
  switch (source.kind) {
    case 'keys':
      return pemKeys(source.pems);
    case 'jwks': {
      const sets: VerificationKey[] = [];
      for (const { url, trust } of source.sets) {
        const set = fetchJwks(http, url, { trust, signal, probe: true });
        sets.push(...(await explained('error checking jwks URL', set)).value);
      }
      return sets;
    }
    case 'discovery': {
      const { url, trust } = source;
      const document = await explained('error checking oidc discovery URL', fetchDiscovery(http, url, { trust, signal, probe: true }));
      return (await explained('error checking oidc discovery URL', fetchJwks(http, document.value.jwksUri, { trust, signal, probe: true })))
        .value;
    }
  }
}

async function explained<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new BadRequest(`${what}: ${thrownText(error)}`, { cause: error });
  }
}
