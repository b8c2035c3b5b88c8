import { TooManyRequests, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { recordsIn, type Ticket } from './records.ts';

/** A process confirms this often that its callers still wait. Milliseconds. */
export const HEARTBEAT = 2_000;
/** The process of a ticket that was not confirmed for this long has died. Milliseconds. */
const SILENCE = 3 * HEARTBEAT;
/** Callers that wait for one set at most. */
const MOST = 250;

/** Tickets that this process holds itself, so that they are alive whatever the record says. */
export type Held = Pick<ReadonlySet<string>, 'has'>;

const NONE: Held = new Set();

/** The tickets of a set that somebody still waits with, in order. `held` are those of this process. */
export async function ticketsOf(
  storage: Pick<StorageView, 'collection'>,
  set: string,
  now: number,
  held: Held = NONE,
): Promise<readonly Ticket[]> {
  const record = await recordsIn(storage).queues.get(set);
  return (record?.tickets ?? []).filter((ticket) => held.has(ticket.id) || (ticket.seen + SILENCE > now && ticket.until > now));
}

/** Takes a place at the end of the queue. @throws TooManyRequests when it is full */
export async function join(tx: Transaction, set: string, ticket: Ticket, held: Held): Promise<void> {
  const tickets = await ticketsOf(tx, set, ticket.since, held);
  if (tickets.length >= MOST) throw new TooManyRequests(`${MOST} callers wait for an account of "${set}" already; try again later`);
  await recordsIn(tx).queues.put(set, { tickets: [...tickets, ticket] });
}

/** Gives the place up. */
export async function leave(tx: Transaction, set: string, id: string): Promise<void> {
  const { queues } = recordsIn(tx);
  const known = (await queues.get(set))?.tickets ?? [];
  const tickets = known.filter((ticket) => ticket.id !== id);
  if (tickets.length < known.length) await (tickets.length === 0 ? queues.delete(set) : queues.put(set, { tickets }));
}

/** Confirms the tickets of a process, puts those back in their places that others took for dead, and drops those of processes that died. */
export async function confirm(tx: Transaction, set: string, own: readonly Ticket[], now: number): Promise<void> {
  const ids = new Set(own.map(({ id }) => id));
  const tickets = (await ticketsOf(tx, set, now, ids)).map((ticket) => (ids.has(ticket.id) ? { ...ticket, seen: now } : ticket));
  for (const lost of own.filter(({ id }) => tickets.every((ticket) => ticket.id !== id))) {
    const later = tickets.findIndex(({ since }) => since > lost.since);
    tickets.splice(later < 0 ? tickets.length : later, 0, { ...lost, seen: now });
  }
  await recordsIn(tx).queues.put(set, { tickets });
}
