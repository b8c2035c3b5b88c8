const PLACE = 'strongroom-token';

type Listener = (token: string | undefined) => void;

const listeners = new Set<Listener>();
let held: string | undefined = sessionStorage.getItem(PLACE) ?? undefined;

/** The session's token: in memory, and, unless the operator forbids it, in the tab's own storage, so that a reload keeps it. Nowhere else. */
export const token = {
  current: (): string | undefined => held,
  /** `kept`: in the tab's storage too. */
  set(value: string | undefined, kept = true): void {
    held = value;
    if (value === undefined || !kept) sessionStorage.removeItem(PLACE);
    else sessionStorage.setItem(PLACE, value);
    for (const listener of listeners) listener(value);
  },
  /** @returns what ends the subscription */
  subscribe(listener: Listener): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
