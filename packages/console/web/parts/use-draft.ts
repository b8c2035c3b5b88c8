import { useEffect, useState } from 'react';
import { useSession } from '../app/session.ts';
import { drafts } from './drafts.ts';

/** Who works here: whoever could go on with the page after a login. Undefined until that is known. */
export function useOwner(): string | undefined {
  const { holder, turn } = useSession();
  return holder && (holder.entityId || holder.accessor || `session ${turn}`);
}

export interface Drafted<T> {
  readonly draft: T;
  /** Somebody has changed what the form began with. */
  readonly touched: boolean;
  /** The changes were made before the page was left, or the session lost. */
  readonly found: boolean;
  readonly change: (next: T) => void;
  /** Draws it otherwise, which is no change of what was typed. */
  readonly redraw: (next: T) => void;
  /** Nothing is kept: back to what the form begins with, or on from what was saved. */
  readonly drop: (next?: T) => void;
}

/**
 * What somebody types in a form. It stays when the page is left or the session is lost, for the same person, in the memory of the tab alone.
 * @param form names the form; another name needs another component (`key`)
 */
export function useDraft<T>(form: string, begin: T): Drafted<T> {
  const owner = useOwner();
  const [kept] = useState(() => (owner === undefined ? undefined : drafts.find<T>(form, owner)));
  const [{ draft, touched, found }, set] = useState({ draft: kept ?? begin, touched: kept !== undefined, found: kept !== undefined });
  useEffect(() => {
    if (touched && owner !== undefined) drafts.keep(form, owner, draft);
  }, [form, owner, draft, touched]);
  return {
    draft,
    touched,
    found,
    change: (next) => set({ draft: next, touched: true, found: false }),
    redraw: (next) => set({ draft: next, touched, found }),
    drop: (next = begin) => {
      drafts.drop(form);
      set({ draft: next, touched: false, found: false });
    },
  };
}
