/** Whose work it is: a draft is never shown to somebody else who logs in at the same place. */
type Owner = string;

const held = new Map<string, { readonly owner: Owner; readonly draft: unknown }>();

/** Unsaved work, by form. In memory alone, since drafts hold secrets: it outlives pages and sessions, but no reload. */
export const drafts = {
  keep(form: string, owner: Owner, draft: unknown): void {
    held.set(form, { owner, draft });
  },
  /** Undefined where there is none, or where it is somebody else's. */
  find<T>(form: string, owner: Owner): T | undefined {
    const found = held.get(form);
    return found?.owner === owner ? (found.draft as T) : undefined;
  },
  drop(form: string): void {
    held.delete(form);
  },
  /** Whether anything is unsaved. */
  get any(): boolean {
    return held.size > 0;
  },
  /** Forgets everything, for somebody who logs out. */
  clear(): void {
    held.clear();
  },
};
