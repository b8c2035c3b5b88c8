import type { Decoded } from '@strongroom/engine-sdk';
import type { Call } from './call.ts';
import type { CoreResponse } from '../kernel/call/core-response.ts';

/** A policy's `pagination_limit` stands in where the caller named none and the path can page. */
export function limitPage(call: Call, decoded: Decoded): void {
  const fields = call.match!.path.declaration.about.fields as object;
  if (decoded.supplied.has('limit') || !Object.hasOwn(fields, 'limit')) return;
  decoded.data['limit'] = call.pageLimit;
}

/** Cuts what a path answered that cannot page by itself. */
export function cutPage(call: Call, answer: CoreResponse): CoreResponse {
  const data = answer.data as { keys?: unknown; key_info?: Record<string, unknown> } | null;
  if (!data || !Array.isArray(data.keys) || data.keys.length <= call.pageLimit) return answer;
  const keys = data.keys.slice(0, call.pageLimit) as string[];
  const info = data.key_info;
  return { ...answer, data: { ...data, keys, ...(info ? { key_info: Object.fromEntries(keys.map((key) => [key, info[key]])) } : {}) } };
}
