import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import type { CoreEvent, EventKind } from './core-event.ts';

const Texts = Type.Array(Type.String());

/** An event as servers tell each other. A newer one may know further kinds. */
const StoredEvent = Type.Object({
  kind: Type.String(),
  time: Type.Number(),
  mount: Type.Optional(Type.String()),
  paths: Type.Optional(Texts),
  above: Type.Optional(Texts),
  lease: Type.Optional(Type.Object({ id: Type.String(), token: Type.String() })),
  name: Type.Optional(Type.String()),
  version: Type.Optional(Type.Number()),
  count: Type.Optional(Type.Number()),
  request: Type.Optional(Type.String()),
});

/** Events of one life of a server: `core/event/<life>/<number of the last one>`. */
export const EventBatch = Type.Object({
  /** Number of the first. */
  from: Type.Number(),
  /** Milliseconds since the epoch. */
  at: Type.Number(),
  /** Null: events may be missing up to this one. */
  events: Type.Array(Type.Union([StoredEvent, Type.Null()])),
  /** The server stopped in an orderly way: nothing comes after it. */
  end: Type.Optional(Type.Boolean()),
});
export type EventBatch = Static<typeof EventBatch>;

export const eventBatches = new Records('core/event/', EventBatch);

export function batchId(life: string, last: number): string {
  return `${life}/${String(last).padStart(15, '0')}`;
}

/** The life whose batch it is, and the number of its last event. */
export function ofBatchId(id: string): { readonly life: string; readonly last: number } {
  const slash = id.lastIndexOf('/');
  return { life: id.slice(0, slash), last: Number(id.slice(slash + 1)) };
}

export function storedEvent(event: CoreEvent): Static<typeof StoredEvent> {
  const { paths, above, ...rest } = event;
  return { ...rest, ...(paths ? { paths: [...paths] } : {}), ...(above ? { above: [...above] } : {}) };
}

export function eventOf({ kind, ...rest }: Static<typeof StoredEvent>): CoreEvent {
  return { kind: kind as EventKind, ...rest };
}
