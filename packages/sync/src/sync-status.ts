import { isSyncError, type SyncErrorCode } from '@strongroom/sync-sdk';
import type { LastError } from './records.ts';

export type SyncStatus =
  | 'PENDING'
  | 'SYNCING'
  | 'SYNCED'
  | 'UNSYNCING'
  | 'UNSYNCED'
  | 'CLIENT_SIDE_ERROR'
  | 'EXTERNAL_SERVICE_ERROR'
  | 'INTERNAL_VAULT_ERROR';

const BY_CODE: Record<SyncErrorCode, SyncStatus> = {
  configuration_invalid: 'CLIENT_SIDE_ERROR',
  client_side: 'CLIENT_SIDE_ERROR',
  address_refused: 'CLIENT_SIDE_ERROR',
  name_taken: 'CLIENT_SIDE_ERROR',
  external_service: 'EXTERNAL_SERVICE_ERROR',
  throttled: 'EXTERNAL_SERVICE_ERROR',
  session_closed: 'INTERNAL_VAULT_ERROR',
};

/** What stays in the way, found before anything was sent: a name that does not fit, a value that is too large, a secret of somebody else's. */
export class Refusal extends Error {
  /** In place of a provider's code. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Failure {
  readonly status: SyncStatus;
  readonly error: LastError;
}

const LONGEST = 500;

/** A failed call as the association shows it. `secrets` are taken out of the text, wherever it comes from. */
export function failureOf(error: unknown, secrets: readonly string[]): Failure {
  if (error instanceof Refusal) return { status: 'CLIENT_SIDE_ERROR', error: { message: error.message, code: error.code } };
  if (!isSyncError(error)) {
    const reportable = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'PluginFault');
    const message = reportable ? masked(error.message, secrets).slice(0, LONGEST) : 'the server failed to carry this out; see its log';
    return { status: 'INTERNAL_VAULT_ERROR', error: { message, code: 'internal' } };
  }
  return {
    status: BY_CODE[error.code],
    error: {
      message: masked(error.message, secrets).slice(0, LONGEST),
      code: error.providerCode ?? error.code,
      ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
    },
  };
}

/** From this length on a text is a secret rather than a word that happens to stand there. */
const SECRET_FROM = 6;

export function masked(text: string, secrets: readonly string[]): string {
  let clean = text;
  // Longer ones first: they may hold others.
  const inOrder = secrets.filter(({ length }) => length >= SECRET_FROM).sort((a, b) => b.length - a.length);
  for (const secret of inOrder) clean = clean.replaceAll(secret, '*****');
  return clean;
}
