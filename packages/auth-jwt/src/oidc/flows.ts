import { createHash } from 'node:crypto';
import { type Clock, type Collection, type Schedule, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { Type, type TObject } from 'typebox';
import { BeginningPace } from './beginning-pace.ts';
import { Flow } from './flow.ts';
import { randomText } from './random-text.ts';
import { noSuchFlow } from './refusals.ts';

/** Milliseconds that a login may take. */
const LIFETIME = 600_000;
/** Milliseconds after which a server that asked the provider about a flow is presumed dead. */
const LONGEST_WORK = 60_000;

const PREFIX = 'oidc-flow/';

/** Forgets a flow that nobody has completed. */
export const flowExpiry: Schedule<TObject> = {
  kind: 'oidc-flow',
  entry: Type.Object({}),
  run: async (_entry, storage, _signal, { id }) => {
    await flowsIn(storage).delete(id);
    return undefined;
  },
};

/** The state that the program and the browser know, and what is stored under it. */
export interface BegunFlow {
  readonly state: string;
  readonly flow: Flow;
}

export interface FlowsParts {
  readonly storage: StorageView;
  readonly clock: Clock;
  randomBytes(count: number): Uint8Array;
}

/** The logins at the provider that are under way, on all servers of the store. */
export class Flows {
  readonly #parts: FlowsParts;
  readonly #pace: BeginningPace;

  constructor(parts: FlowsParts) {
    this.#parts = parts;
    this.#pace = new BeginningPace(LIFETIME);
  }

  /** Counts a login that begins now, before anything is done for it. @throws TooManyRequests */
  admit(address: string): void {
    this.#pace.admit(address, this.#parts.clock.millis());
  }

  async begin(flow: Omit<Flow, 'begun' | 'expires'>, state = this.newState()): Promise<BegunFlow> {
    const begun = this.#parts.clock.millis();
    const expires = begun + LIFETIME;
    const record = { ...flow, begun, expires };
    await this.#parts.storage.transaction(async (tx) => {
      await flowsIn(tx).put(idOf(state), record);
      await tx.schedule(flowExpiry, idOf(state), new Date(expires), {});
    });
    return { state, flow: record };
  }

  newState(): string {
    return `st_${randomText(20, (count) => this.#parts.randomBytes(count))}`;
  }

  newBrowserKey(): string {
    return `b_${randomText(20, (count) => this.#parts.randomBytes(count))}`;
  }

  newNonce(): string {
    return `n_${randomText(20, (count) => this.#parts.randomBytes(count))}`;
  }

  /** The flow of a state. @throws BadRequest where it is unknown, used, or too old */
  async find(state: string): Promise<Flow> {
    return this.#live(await flowsIn(this.#parts.storage).get(idOf(state)));
  }

  /** The flow of a state, which nobody else gets any more. @throws BadRequest as `find` */
  async take(state: string): Promise<Flow> {
    return this.#parts.storage.transaction(async (tx) => {
      const flow = this.#live(await flowsIn(tx).get(idOf(state)));
      await remove(tx, state);
      return flow;
    });
  }

  /** Puts back a flow that was taken, because the provider could not be asked. It expires when it would have. */
  async putBack(state: string, flow: Flow): Promise<void> {
    await this.#parts.storage.transaction(async (tx) => {
      await flowsIn(tx).put(idOf(state), flow);
      await tx.schedule(flowExpiry, idOf(state), new Date(flow.expires), {});
    });
  }

  /**
   * Reserves a flow for this server, which is about to ask the provider. Undefined while another one does. `settle` ends it.
   * @throws BadRequest as `find`
   */
  async reserve(state: string, wanted: (flow: Flow) => boolean): Promise<Flow | undefined> {
    return this.#parts.storage.transaction(async (tx) => {
      const flow = this.#live(await flowsIn(tx).get(idOf(state)));
      const now = this.#parts.clock.millis();
      if ((flow.busy_until ?? 0) > now || !wanted(flow)) return undefined;
      await flowsIn(tx).put(idOf(state), { ...flow, busy_until: now + LONGEST_WORK });
      return flow;
    });
  }

  /** Stores what came of a flow, and lets others go on with it. @throws BadRequest as `find` */
  async settle(state: string, outcome: Partial<Flow>): Promise<void> {
    await this.#parts.storage.transaction(async (tx) => {
      const { busy_until: _, ...flow } = this.#live(await flowsIn(tx).get(idOf(state)));
      await flowsIn(tx).put(idOf(state), { ...flow, ...outcome });
    });
  }

  /** Forgets a flow, which may have ended. */
  async end(state: string): Promise<void> {
    await this.#parts.storage.transaction(async (tx) => remove(tx, state));
  }

  /** Ends a flow in the commit that stores its login: no second one can come of it. @throws BadRequest where it has ended */
  async consume(tx: Transaction, state: string): Promise<void> {
    this.#live(await flowsIn(tx).get(idOf(state)));
    await remove(tx, state);
  }

  #live(flow: Flow | undefined): Flow {
    if (!flow || flow.expires <= this.#parts.clock.millis()) throw noSuchFlow();
    return flow;
  }
}

function flowsIn(view: Pick<StorageView, 'collection'>): Collection<Flow> {
  return view.collection(PREFIX, Flow);
}

async function remove(tx: Transaction, state: string): Promise<void> {
  await flowsIn(tx).delete(idOf(state));
  await tx.unschedule(flowExpiry, idOf(state));
}

/** Ids are readable in a copy of the store, and the state completes a login. */
function idOf(state: string): string {
  return createHash('sha256').update(withoutNamespace(state)).digest('base64url');
}

/** A state comes back as the provider got it, with a namespace behind it. */
function withoutNamespace(state: string): string {
  return state.split(',ns=')[0]!;
}
