import { emptyResponse } from '@strongroom/core';
import type { CoreHandler, CoreRequest, CoreResponse } from '../src/index.ts';

export interface FakeCore extends CoreHandler {
  /** What was asked, in order. */
  readonly calls: CoreRequest[];
  /** Tokens that it was asked to recognize, in order. */
  readonly asked: string[];
  cors?: NonNullable<CoreHandler['cors']>;
  sealed?: boolean;
}

/** The one token that a fake core recognizes. */
export const GOOD_TOKEN = 'good';

export function answer(parts: Partial<CoreResponse> = {}): CoreResponse {
  return { ...emptyResponse('request-1', 200), ...parts };
}

/** A core that answers with `reply`; by default, it echoes the request. */
export function fakeCore(reply?: (request: CoreRequest) => CoreResponse | Promise<CoreResponse>): FakeCore {
  const calls: CoreRequest[] = [];
  const asked: string[] = [];
  return {
    calls,
    asked,
    async recognizes(token) {
      asked.push(token);
      return token === GOOD_TOKEN;
    },
    async handle(request) {
      calls.push(request);
      if (reply) return reply(request);
      const { operation, path, data, token, wrapTtl } = request;
      return answer({ data: { operation, path, data: data ?? null, token: token ?? null, wrap_ttl: wrapTtl } });
    },
  };
}
