import type { TokenlessCeremony } from '@strongroom/core';
import type { CoreHandler } from '@strongroom/http';

/** The same core, where callers without a token can do these with their key shares: `disable_unauthed_…_endpoints = false` of a listener. */
export function withTokenless(core: CoreHandler, tokenless: readonly TokenlessCeremony[]): CoreHandler {
  return {
    ...(core.cors ? { cors: core.cors } : {}),
    ...(core.recognizes ? { recognizes: (token, address) => core.recognizes!(token, address) } : {}),
    handle: (request) => core.handle({ ...request, tokenless }),
  };
}
