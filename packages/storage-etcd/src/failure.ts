import { status } from '@grpc/grpc-js';
import { StorageFailure } from '@strongroom/storage-sdk';

export const NAME = 'etcd';

/** The server read the call and refused it: it has not happened, and will not. */
const REFUSED: ReadonlySet<status> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.ALREADY_EXISTS,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.UNAUTHENTICATED,
]);

interface GrpcError {
  readonly code: status;
  readonly details: string;
}

function partsOf(error: unknown): GrpcError | undefined {
  const { code, details } = (error ?? {}) as Partial<GrpcError>;
  return typeof code === 'number' && typeof details === 'string' ? { code, details } : undefined;
}

function says(error: unknown, text: RegExp): boolean {
  return text.test(partsOf(error)?.details ?? '');
}

/** Whether etcd refused the call, so that nothing has happened. Otherwise the outcome is unknown. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof StorageFailure) return true;
  const code = partsOf(error)?.code;
  return code !== undefined && REFUSED.has(code);
}

/** The login is over: the next one may help. */
export function isLoginOver(error: unknown): boolean {
  return says(error, /invalid auth token|revision of auth store is old|auth: revision in header is old/);
}

/** The revision that was asked for is no longer kept. */
export function isCompacted(error: unknown): boolean {
  return says(error, /required revision has been compacted/);
}

/** The transaction has more operations than one may have. */
export function isTooManyOps(error: unknown): boolean {
  return says(error, /too many operations in txn request/);
}

/** The request has more bytes than one may have. */
export function isTooLarge(error: unknown): boolean {
  return says(error, /request is too large|received message larger than max/);
}

/** There is no room, until an operator makes some. */
export function isFull(error: unknown): boolean {
  return says(error, /database space exceeded/);
}

const FULL =
  'etcd is full: its quota is used up, and the alarm NOSPACE is raised. Compact and defragment it, raise --quota-backend-bytes, then disarm the alarm';
const TOO_LARGE = 'the change is larger than a request to etcd may be (1.5 MiB by default): start etcd with a higher --max-request-bytes';
const TOO_MANY =
  'the change has more operations than a transaction of etcd may have (128 by default): start etcd with a higher --max-txn-ops';

/** What went wrong, naming etcd and neither the password nor a token. */
export function asFailure(error: unknown): StorageFailure {
  if (error instanceof StorageFailure) return error;
  if (isFull(error)) return new StorageFailure(NAME, FULL, { full: true });
  if (isTooLarge(error)) return new StorageFailure(NAME, TOO_LARGE, { tooLarge: true });
  if (isTooManyOps(error)) return new StorageFailure(NAME, TOO_MANY, { tooLarge: true });
  const known = partsOf(error);
  if (!known) return new StorageFailure(NAME, `etcd: ${error instanceof Error ? error.message : String(error)}`);
  const { code, details } = known;
  if (code === status.PERMISSION_DENIED) return new StorageFailure(NAME, 'the etcd user lacks a permission on the prefix of the store');
  if (says(error, /authentication failed|user name is empty|invalid auth token/))
    return new StorageFailure(NAME, 'etcd refuses the user name or password');
  if (says(error, /too many requests/)) return new StorageFailure(NAME, 'etcd has too much to do', { transient: true });
  if (REFUSED.has(code)) return new StorageFailure(NAME, `etcd: ${details}`);
  return new StorageFailure(NAME, unreachable(error), { transient: true });
}

/** Why no member answers, in plain words. */
export function unreachable(error: unknown): string {
  const { code, details } = partsOf(error) ?? { code: undefined, details: String(error) };
  if (code === status.DEADLINE_EXCEEDED) return 'etcd does not answer in time';
  if (/no leader|leader changed|request timed out|not healthy/.test(details)) return `etcd has no majority or no leader: ${details}`;
  return `etcd cannot be reached: ${plainly(details)}`;
}

/** Without what gRPC puts around the reason why it has no connection. */
function plainly(details: string): string {
  return /^No connection established\. Last error: (?:Error: )?(.+?)\.? Resolution note:/s.exec(details)?.[1] ?? details;
}
