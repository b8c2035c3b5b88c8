import type { CoreResponse } from './core-types.ts';

const KEYS = ['request_id', 'lease_id', 'renewable', 'lease_duration', 'data', 'wrap_info', 'warnings', 'auth'];

/** The JSON text of an answer, with its closing newline: the envelope, or the errors. */
export function envelopeOf(answer: CoreResponse): string {
  if (answer.errors) return errorsBody(answer.errors, answer.data);
  const data = answer.data === undefined || answer.data === null ? 'null' : JSON.stringify(answer.data);
  return (
    `{${answer.flattened ? flattened(answer.data) : ''}"request_id":${JSON.stringify(answer.requestId)}` +
    `,"lease_id":${answer.leaseId === '' ? '""' : JSON.stringify(answer.leaseId)}` +
    `,"renewable":${answer.renewable ? 'true' : 'false'},"lease_duration":${answer.leaseDuration},"data":${data}` +
    `,"wrap_info":${answer.wrapInfo ? JSON.stringify(answer.wrapInfo) : 'null'}` +
    `,"warnings":${answer.warnings ? JSON.stringify(answer.warnings) : 'null'}` +
    `,"auth":${answer.auth ? JSON.stringify(answer.auth) : 'null'}}\n`
  );
}

export function errorsBody(errors: readonly string[], data?: unknown): string {
  const beside = data === undefined || data === null ? '' : `,"data":${JSON.stringify(data)}`;
  return `{"errors":${errors.length === 0 ? '[]' : JSON.stringify(errors)}${beside}}\n`;
}

/** The keys of the data, to stand before those of the envelope; `''` or a text that ends with a comma. */
function flattened(data: unknown): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return '';
  const inner = JSON.stringify(data, withoutEnvelopeKeys(data)).slice(1, -1);
  return inner === '' ? '' : `${inner},`;
}

function withoutEnvelopeKeys(data: object): ((this: unknown, key: string, value: unknown) => unknown) | undefined {
  if (!KEYS.some((key) => Object.hasOwn(data, key))) return undefined;
  return function replace(this: unknown, key, value) {
    return this === data && KEYS.includes(key) ? undefined : value;
  };
}
