import type { Wire } from '@strongroom/import';
import type { ApiClient } from './client.ts';
import { ApiFailure } from './failure.ts';

/** The calls of an import, by a client that does not repeat them by itself. */
export function importWire(client: ApiClient): Wire {
  return {
    async send(method, path, { query, body, ofServer } = {}) {
      try {
        const reply = await client.call(method, path, {
          ...(query ? { query } : {}),
          ...(body === undefined ? {} : { body }),
          ...(ofServer === true ? { headers: { 'X-Vault-Namespace': '' } } : {}),
          verbatim: true,
        });
        return { status: reply.status, text: reply.text };
      } catch (error) {
        if (!(error instanceof ApiFailure)) throw error;
        return { status: error.status, text: error.body, retryAfter: error.retryAfter };
      }
    },
  };
}
