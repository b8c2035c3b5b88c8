/** A mount as the server describes it. */
export interface Mounted {
  readonly type: string;
  readonly description: string;
  readonly accessor?: string;
  readonly uuid?: string;
  readonly running_plugin_version?: string;
  readonly options?: Readonly<Record<string, string>> | null;
  readonly quarantine?: string;
  readonly removing?: { readonly phase: string; readonly reasons: readonly string[] };
}

export type Kind = 'secret' | 'auth';

/** What the server calls its mounts of a kind. */
export const PLACES: Readonly<Record<Kind, string>> = { secret: 'sys/mounts', auth: 'sys/auth' };

/** Reads that another mount, or one less, makes stale. */
export const STALE = ['sys/internal/ui/mounts', 'sys/internal/specs/openapi', 'sys/mounts', 'sys/auth'];

/** The whole path of a mount, without the closing slash. */
export function wholePath(kind: Kind, path: string): string {
  return `${kind === 'auth' ? 'auth/' : ''}${path.replace(/\/$/, '')}`;
}
