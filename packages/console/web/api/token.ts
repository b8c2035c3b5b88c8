const PLACE = 'strongroom-token';

type Listener = (token: string | undefined) => void;

const listeners = new Set<Listener>();
let held: string | undefined = sessionStorage.getItem(PLACE) ?? undefined;

/** The session's token: in memory, and in the tab's own storage, so that a reload keeps it. Nowhere else. */
export const token = {
  current: (): string | undefined => held,
  set(value: string | undefined): void {
    held = value;
    if (value === undefined) sessionStorage.removeItem(PLACE);
    else sessionStorage.setItem(PLACE, value);
    for (const listener of listeners) listener(value);
  },
  /** @returns what ends the subscription */
  subscribe(listener: Listener): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
