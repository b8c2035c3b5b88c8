import type { EngineResponse } from '@strongroom/engine-sdk';
import { reply } from '../../services/caller/internal-request.ts';

/** An answer whose body is what the standards of OpenID and OAuth say, without the envelope of this API. */
export function rawJson(
  body: unknown,
  options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): EngineResponse<never> {
  return reply({ status: 200, raw: { contentType: 'application/json', body: JSON.stringify(body) }, ...options });
}

/** May be kept for as many seconds by whoever fetched it; 0: not at all. */
export function cacheFor(seconds: number): Readonly<Record<string, string>> {
  return { 'Cache-Control': seconds > 0 ? `max-age=${Math.floor(seconds)}` : 'no-store' };
}
