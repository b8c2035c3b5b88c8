import type { STSClient } from '@aws-sdk/client-sts';
import { isCloudError } from '../cloud-error.ts';
import { codeOf } from './aws-faults.ts';

/** Refusals of one place that say nothing of the others. */
const OF_THE_PLACE = new Set(['RegionDisabledException', 'IDPCommunicationError', 'IDPCommunicationErrorException']);

/** STS at several places, which are asked in their order: each where those before it were not reached or failed. */
export class FallbackSts {
  readonly #clients: readonly [STSClient, ...STSClient[]];
  readonly #names: readonly string[];

  /** `names`: what messages call the places of the clients. */
  constructor(clients: readonly [STSClient, ...STSClient[]], names: readonly string[]) {
    this.#clients = clients;
    this.#names = names;
  }

  /** Throws what the first place that refuses throws. Where all fail, throws what the last one throws, with the names of all in its text. */
  async ask<T>(work: (client: STSClient) => Promise<T>): Promise<T> {
    for (const client of this.#clients.slice(0, -1)) {
      try {
        return await work(client);
      } catch (error) {
        if (!isOfThePlace(error)) throw error;
      }
    }
    try {
      return await work(this.#clients.at(-1)!);
    } catch (error) {
      if (this.#names.length > 1 && error instanceof Error && isOfThePlace(error))
        error.message += `; asked in turn: ${this.#names.join(', ')}`;
      throw error;
    }
  }

  destroy(): void {
    for (const client of this.#clients) client.destroy();
  }
}

function isOfThePlace(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (OF_THE_PLACE.has(codeOf(error))) return true;
  if (status !== undefined) return status >= 500;
  return name !== 'AbortError' && name !== 'CredentialsProviderError' && !isCloudError(error);
}
