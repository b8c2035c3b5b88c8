import type { CoreHandler, CoreRequest, CoreResponse } from '../src/index.ts';

export interface FakeCore extends CoreHandler {
  /** What was asked, in order. */
  readonly calls: CoreRequest[];
  cors?: NonNullable<CoreHandler['cors']>;
}

export function answer(parts: Partial<CoreResponse> = {}): CoreResponse {
  return {
    requestId: 'request-1',
    status: 200,
    leaseId: '',
    renewable: false,
    leaseDuration: 0,
    data: null,
    wrapInfo: null,
    warnings: null,
    auth: null,
    ...parts,
  };
}

/** A core that answers as told; unless told, it answers with what it was asked. */
export function fakeCore(reply?: (request: CoreRequest) => CoreResponse | Promise<CoreResponse>): FakeCore {
  const calls: CoreRequest[] = [];
  return {
    calls,
    async handle(request) {
      calls.push(request);
      if (reply) return reply(request);
      const { operation, path, data, token, wrapTtl } = request;
      return answer({ data: { operation, path, data: data ?? null, token: token ?? null, wrap_ttl: wrapTtl } });
    },
  };
}
