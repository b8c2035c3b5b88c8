import { AsyncLocalStorage } from 'node:async_hooks';

/** Whose code runs: somebody that can be told of what it throws after its call has ended. */
export interface CodeOwner {
  /** An error that nobody could catch: of a timer, an event, a promise that nobody waits for. Never throws. */
  leaked(error: unknown): void;
  /**
   * Where the code is: names of packages, and folders as `file:` URLs. What leaks is then known by its stack. Absent: all that the code begins is
   * followed, which before Node 24 costs every promise of the process.
   */
  readonly code?: readonly string[];
}

const FOLLOWING_COSTS_NOTHING = Number(process.versions.node.split('.', 1)[0]) >= 24;

const owners = new AsyncLocalStorage<CodeOwner>();
/** Owners of one place, the dead ones among them until `full` are there. */
interface Place {
  readonly alive: Set<WeakRef<CodeOwner>>;
  full: number;
  last: CodeOwner;
}

/** Fewer owners than these are not worth a look for dead ones. */
const FEW = 64;
/** Those known by where their code is. The last of each place is kept for what leaks after all of them have ended. */
const places = new Map<string, Place>();
const placed = new WeakSet<CodeOwner>();
/** Places that the server itself runs: they blame nobody. */
const reserved = new Set<string>();

/**
 * The server runs this code itself, such as its store's driver: that a plugin names it too says nothing about whose fault an error there is.
 * Texts as in `CodeOwner.code`.
 */
export function reserveCode(code: readonly string[]): void {
  for (const where of code) reserved.add(where);
}

/** Runs code that is not the server's own. All that it begins, timers and promises too, counts as its owner's. */
export function runAttributed<T>(owner: CodeOwner, work: () => T): T {
  if (owner.code !== undefined && !placed.has(owner)) place(owner, owner.code);
  return owner.code === undefined || FOLLOWING_COSTS_NOTHING ? owners.run(owner, work) : work();
}

/**
 * For the process's handlers of `uncaughtException` and `unhandledRejection`: tells the owner of the code that threw, or all that run the same code where
 * it is known by its place. False where the code was the server's own, or may have been, since the server runs the same: its state is then unknown.
 */
export function notifyOwner(error: unknown): boolean {
  const owner = owners.getStore();
  const found = owner ? [owner] : ownersByStack(error);
  let told = false;
  for (const one of found) {
    try {
      one.leaked(error);
      told = true;
    } catch {
      // Whoever cannot be told does not keep the others from it.
    }
  }
  return told;
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

/** A look at each of them, so rarely that an owner costs the same however many there are. */
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
