import { NotFound } from '@strongroom/engine-sdk';
import type { CoreResponse } from '../kernel/call/core-response.ts';
import type { Call } from './call.ts';

/** Leaves out of a scan the names in folders that a rule denies the caller: who may not list a folder does not learn its names from above. @throws NotFound when none is left */
export function withoutDeniedFolders(call: Call, answer: CoreResponse): CoreResponse {
  const data = answer.data as { keys?: unknown; key_info?: Readonly<Record<string, unknown>> } | null;
  if (call.operation !== 'scan' || !data || !Array.isArray(data.keys) || call.acl!.root) return answer;
  const denied = new Map<string, boolean>();
  const isShown = (key: string): boolean => {
    const folder = key.slice(0, key.lastIndexOf('/') + 1);
    let hidden = denied.get(folder);
    if (hidden === undefined) denied.set(folder, (hidden = folder !== '' && call.acl!.denies(call.path + folder)));
    return !hidden;
  };
  const keys = (data.keys as string[]).filter(isShown);
  if (keys.length === data.keys.length) return answer;
  if (keys.length === 0) throw new NotFound();
  const info = data.key_info;
  return { ...answer, data: { ...data, keys, ...(info ? { key_info: Object.fromEntries(keys.map((key) => [key, info[key]])) } : {}) } };
}
