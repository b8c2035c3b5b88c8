import { probeServer, type ProbeFacts, type StepTrace } from '@strongroom/engine-sdk';
import type { ApiServerAddress, ApiServerParts } from './api-server.ts';
import { ApiServerFailed, reasonOf } from './api-server-failed.ts';

/** Opens one connection to an API server and, for `https`, encrypts it: two steps of `config/test`. @throws ApiServerFailed */
export async function probe(
  { url, ca }: ApiServerAddress,
  clock: ApiServerParts['clock'],
  trace: Pick<StepTrace<'connect' | 'tls', ProbeFacts>, 'start' | 'passed' | 'failed'>,
  signal: AbortSignal,
): Promise<void> {
  const failed = (reason: string): ApiServerFailed => new ApiServerFailed('cannot be reached', reason);
  await probeServer({ url, tls: ca === undefined ? {} : { ca }, clock, trace, signal, reasonOf, failed });
}
