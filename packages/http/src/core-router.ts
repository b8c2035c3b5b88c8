import type { RequestHandler } from 'express';
import { ApiHandler, type ApiOptions } from './api-handler.ts';
import type { CoreHandler } from './core-types.ts';

/**
 * The API as a handler for any express app: `app.use('/secrets/v1', coreRouter(core))`. Reads bodies itself, and copes with a body
 * parser that ran before it. It answers everything below its place and never calls `next`.
 *
 * Node's parser refuses the verb LIST before any app sees it; `acceptListVerb(server)` changes that for a server of yours.
 */
export function coreRouter(core: CoreHandler, options: ApiOptions = {}): RequestHandler {
  const api = new ApiHandler(core, options);
  return (request, response) => {
    api.handle(request, response, request.baseUrl, request.url.slice(1));
  };
}
