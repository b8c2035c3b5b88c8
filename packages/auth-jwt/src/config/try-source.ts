import { BadRequest, EngineError } from '@strongroom/engine-sdk';
import { discoveryUrl, readDiscovery } from '../keys/discovery.ts';
import { getJson } from '../keys/get-json.ts';
import type { IssuerHttp } from '../keys/issuer-http.ts';
import { keysOfSet } from '../keys/jwks.ts';
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
      const keys: VerificationKey[] = [];
      for (const { url, trust } of source.sets) {
        const set = async (): Promise<readonly VerificationKey[]> =>
          keysOfSet((await getJson(http, url, { trust, signal, probe: true })).body);
        keys.push(...(await explained('error checking jwks URL', set)));
      }
      return keys;
    }
    case 'discovery': {
      const { url, trust } = source;
      const call = { trust, signal, probe: true };
      return explained('error checking oidc discovery URL', async () => {
        const { jwksUri } = readDiscovery((await getJson(http, discoveryUrl(url), call)).body, url);
        return keysOfSet((await getJson(http, jwksUri, call)).body);
      });
    }
  }
}

async function explained<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new BadRequest(`${what}: ${error.message}`, { cause: error });
  }
}
