import type { EventKind } from '../events/core-event.ts';

/** Which of the events that a caller may see it asks for. Empty parts ask for all. */
export interface EventFilter {
  /** Kinds, or what stands before their dot. */
  readonly kinds: readonly string[];
  /** Path of a mount, with its closing slash. */
  readonly mount: string;
  /** What the path of an event begins with. */
  readonly prefix: string;
}

/** What filters look at. */
export interface Filterable {
  readonly kind: EventKind;
  readonly mount?: string;
  readonly path?: string;
}

export function matches({ kinds, mount, prefix }: EventFilter, event: Filterable): boolean {
  if (kinds.length > 0 && !kinds.includes(event.kind) && !kinds.includes(event.kind.slice(0, event.kind.indexOf('.')))) return false;
  if (mount !== '' && event.mount !== mount) return false;
  return prefix === '' || (event.path ?? '').startsWith(prefix);
}
