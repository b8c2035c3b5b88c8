import type { EngineHost, FailingThing } from '@strongroom/engine-sdk';
import { bearerOf, NO_TOKEN, type Cluster } from './cluster.ts';
import { CONFIG, recordsIn, type ConfigRecord } from './records.ts';

/** A configuration that makes no lease and removes none, found without asking the API server. The core itself shows the open circuit breaker of a server that is down. */
export async function failingCluster(host: EngineHost, cluster: Cluster): Promise<FailingThing[]> {
  const config = await recordsIn(host.storage).config.get(CONFIG);
  const message = config && (await tokenTrouble(config, host, cluster));
  return message === undefined ? [] : [{ noun: 'cluster', name: config!.kubernetes_host, path: 'config', message }];
}

/** Why the token of a configuration opens nothing, found without asking the API server. */
export async function tokenTrouble(config: ConfigRecord, { clock }: EngineHost, { pod }: Cluster): Promise<string | undefined> {
  const bearer = await bearerOf(config, pod);
  return bearer === undefined ? NO_TOKEN : expired(bearer, clock.now());
}

/** Tokens of Kubernetes are JWTs that say when they end. One of another form is left to the API server to judge. */
function expired(bearer: string, now: Date): string | undefined {
  const ends = endOf(bearer);
  if (ends === undefined || ends > now) return undefined;
  return `service_account_jwt expired at ${ends.toISOString()}: write a new one to config, one without an end or with a longer one`;
}

function endOf(bearer: string): Date | undefined {
  try {
    const claims = JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown } | null;
    const ends = new Date(typeof claims?.exp === 'number' ? claims.exp * 1_000 : Number.NaN);
    return Number.isNaN(ends.getTime()) ? undefined : ends;
  } catch {
    return undefined;
  }
}
