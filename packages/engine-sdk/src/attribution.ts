import { AsyncLocalStorage } from 'node:async_hooks';

/** The owner of code that runs, who is notified of what the code throws after its call has ended. */
export interface CodeOwner {
  /** Receives an error that no caller could catch: from a timer, an event, or a promise that nothing awaits. Never throws. */
  leaked(error: unknown): void;
  /**
   * Where the code is: names of packages, and folders as `file:` URLs. Errors are then attributed by their stack. If absent, everything that the code
   * starts is tracked, which before Node 24 slows down every promise of the process.
   */
  readonly code?: readonly string[];
}

const FOLLOWING_COSTS_NOTHING = Number(process.versions.node.split('.', 1)[0]) >= 24;

const owners = new AsyncLocalStorage<CodeOwner>();
/** The owners of one place. Collected owners are removed when there are `full` entries. */
interface Place {
  readonly alive: Set<WeakRef<CodeOwner>>;
  full: number;
  last: CodeOwner;
}

/** With fewer owners than this, collected ones are not searched for. */
const FEW = 64;
/** Owners by the place of their code. The last owner of each place is kept, for errors after all of them have ended. */
const places = new Map<string, Place>();
const placed = new WeakSet<CodeOwner>();
/** Places whose code the server itself runs. Errors there are attributed to nobody. */
const reserved = new Set<string>();

/**
 * Declares code that the server runs itself, such as the driver of its storage. Even if a plugin names it too, an error there is attributed to nobody.
 * The texts are as in `CodeOwner.code`.
 */
export function reserveCode(code: readonly string[]): void {
  for (const where of code) reserved.add(where);
}

/** Runs code that is not the server's own. Everything that it starts, including timers and promises, is attributed to its owner. */
export function runAttributed<T>(owner: CodeOwner, work: () => T): T {
  if (owner.code !== undefined && !placed.has(owner)) place(owner, owner.code);
  return owner.code === undefined || FOLLOWING_COSTS_NOTHING ? owners.run(owner, work) : work();
}

/**
 * For the process's handlers of `uncaughtException` and `unhandledRejection`: notifies the owner of the code that threw, or all owners of the same code if
 * it is known by its place. Returns false if the code was, or may have been, the server's own: the state of the server is then unknown.
 */
export function notifyOwner(error: unknown): boolean {
  const owner = owners.getStore();
  const found = owner ? [owner] : ownersByStack(error);
  let notified = false;
  for (const one of found) {
    try {
      one.leaked(error);
      notified = true;
    } catch {
      // One owner that fails does not keep the others from being notified.
    }
  }
  return notified;
}

function place(owner: CodeOwner, code: readonly string[]): void {
  placed.add(owner);
  const reference = new WeakRef(owner);
  for (const where of code) {
    const entry: Place = places.get(where) ?? { alive: new Set(), full: FEW, last: owner };
    if (entry.alive.size >= entry.full) forgetDead(entry);
    entry.alive.add(reference);
    entry.last = owner;
    places.set(where, entry);
  }
}

/** Visits every owner, but so rarely that the cost of one owner does not depend on their number. */
function forgetDead(entry: Place): void {
  for (const other of entry.alive) if (!other.deref()) entry.alive.delete(other);
  entry.full = Math.max(FEW, 2 * entry.alive.size);
}

function ownersByStack(error: unknown): Set<CodeOwner> {
  const found = new Set<CodeOwner>();
  const stack = error instanceof Error ? (error.stack ?? '').replaceAll('\\', '/') : '';
  for (const [where, { alive, last }] of places) {
    if (reserved.has(where) || !stack.includes(where.startsWith('file:') ? where : `/node_modules/${where}/`)) continue;
    const living = [...alive].flatMap((reference) => reference.deref() ?? []);
    for (const owner of living.length > 0 ? living : [last]) found.add(owner);
  }
  return found;
}
