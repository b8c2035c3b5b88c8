import { writeJson } from '@strongroom/engine-sdk';
import type { CoreResponse } from './core-types.ts';

const KEYS = ['request_id', 'lease_id', 'renewable', 'lease_duration', 'data', 'wrap_info', 'warnings', 'auth'];

/** The JSON text of an answer, with its closing newline: the envelope, or the errors. */
export function envelopeOf(answer: CoreResponse): string {
  if (answer.errors) return errorsBody(answer.errors, answer.data);
  const auth = answer.pendingAuth ?? answer.auth;
  const data = answer.data === undefined || answer.data === null ? 'null' : writeJson(answer.data);
  return (
    `{${answer.flattened ? flattened(answer.data) : ''}"request_id":${JSON.stringify(answer.requestId)}` +
    `,"lease_id":${answer.leaseId === '' ? '""' : JSON.stringify(answer.leaseId)}` +
    `,"renewable":${answer.renewable ? 'true' : 'false'},"lease_duration":${answer.leaseDuration},"data":${data}` +
    `,"wrap_info":${answer.wrapInfo ? JSON.stringify(answer.wrapInfo) : 'null'}` +
    `,"warnings":${answer.warnings ? JSON.stringify(answer.warnings) : 'null'}` +
    `,"auth":${auth ? JSON.stringify(auth) : 'null'}}\n`
  );
}

export function errorsBody(errors: readonly string[], data?: unknown): string {
  const beside = data === undefined || data === null ? '' : `,"data":${writeJson(data)}`;
  return `{"errors":${errors.length === 0 ? '[]' : JSON.stringify(errors)}${beside}}\n`;
}

/** The keys of the data, to stand before those of the envelope; `''` or a text that ends with a comma. */
function flattened(data: unknown): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return '';
  const inner = writeJson(withoutEnvelopeKeys(data)).slice(1, -1);
  return inner === '' ? '' : `${inner},`;
}

function withoutEnvelopeKeys(data: object): object {
  if (!KEYS.some((key) => Object.hasOwn(data, key))) return data;
  return Object.fromEntries(Object.entries(data).filter(([key]) => !KEYS.includes(key)));
}
