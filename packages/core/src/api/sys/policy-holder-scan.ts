import { withDeadline, type Clock, type PolicyHolder } from '@strongroom/engine-sdk';
import type { KeyRing } from '../../kernel/barrier/key-ring.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';

/** Records that one engine reads at a time. */
const BATCH = 200;
/** Records that one scan reads, found or not. */
const MOST_READ = 2_000;
/** Milliseconds that one engine may take for a batch. */
const PATIENCE = 10_000;
const NAME = 'policy-holders';

/** A holder and the mount that it belongs to. */
export interface FoundHolder {
  readonly mount: Mount;
  readonly holder: PolicyHolder;
}

export interface HolderScan {
  readonly found: readonly FoundHolder[];
  /** Where the next scan goes on; undefined at the end. */
  readonly next?: Cursor;
  /** Mounts whose holders are not among those found. */
  readonly unread: readonly { readonly mount: string; readonly reason: string }[];
}

/** How far a scan got. */
export interface Cursor {
  readonly mount: string;
  readonly after?: string;
}

/**
 * Cursors name what the scan saw last, and the caller may not be allowed to know that, so they are encrypted. Any server of the store reads them.
 */
export const cursors = {
  write: (ring: KeyRing, cursor: Cursor): string => ring.encrypt(NAME, Buffer.from(JSON.stringify(cursor))).toString('base64url'),
  /** Undefined for what is no cursor. */
  read: (ring: KeyRing, text: string): Cursor | undefined => {
    try {
      return JSON.parse(ring.decrypt(NAME, Buffer.from(text, 'base64url')).toString()) as Cursor;
    } catch {
      return undefined;
    }
  },
};

/** Finds holders that `take` wants in these mounts, which are in the order of their paths: at most `limit`, and in bounded time. */
export async function scanHolders(options: {
  readonly mounts: readonly Mount[];
  readonly from: Cursor | undefined;
  readonly limit: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  take(found: FoundHolder): boolean;
}): Promise<HolderScan> {
  const { mounts, from, limit, clock, signal, take } = options;
  const found: FoundHolder[] = [];
  const unread: { mount: string; reason: string }[] = [];
  let read = 0;
  for (const mount of mounts) {
    if (from && mount.path < from.mount) continue;
    let after = from?.mount === mount.path ? from.after : undefined;
    const reason = whyUnread(mount);
    if (reason !== undefined) unread.push({ mount: mount.path, reason });
    const { engine } = mount;
    if (!engine?.policyHolders) continue;
    for (;;) {
      if (read >= MOST_READ || found.length >= limit)
        return { found, unread, next: { mount: mount.path, ...(after === undefined ? {} : { after }) } };
      const size = Math.min(BATCH, limit - found.length);
      const query = { limit: size, ...(after === undefined ? {} : { after }) };
      let page;
      try {
        page = await withDeadline({ clock, millis: PATIENCE, parent: signal }, async () =>
          mount.run(async () => engine.policyHolders!(query)),
        );
      } catch (error) {
        signal.throwIfAborted();
        unread.push({ mount: mount.path, reason: (error as Error).message });
        break;
      }
      read += size;
      for (const holder of page.holders) if (take({ mount, holder })) found.push({ mount, holder });
      if (page.next === undefined) break;
      after = page.next;
    }
  }
  return { found, unread };
}

function whyUnread({ class: kind, engine, ofSystem }: Mount): string | undefined {
  if (kind !== 'auth' || ofSystem || engine?.policyHolders) return undefined;
  return engine ? 'its engine does not tell which of its roles give which policies' : 'its engine does not run';
}
