import { createHash, randomUUID } from 'node:crypto';
import type { Clock, IssuedAuth } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import { DueRecords } from '../../kernel/work/due-records.ts';
import { realign, type DueEntry } from '../../kernel/work/schedule-index.ts';

const Texts = Type.Array(Type.String());

/** What the engine granted, without alias and groups, which the identity store has by now. */
const HeldAuth = Type.Object({
  displayName: Type.String(),
  policies: Texts,
  metadata: Type.Record(Type.String(), Type.String()),
  terms: Type.Object({
    ttl: Type.Number(),
    maxTtl: Type.Number(),
    explicitMaxTtl: Type.Number(),
    period: Type.Number(),
    numUses: Type.Number(),
    noDefaultPolicy: Type.Boolean(),
    boundCidrs: Texts,
    type: Type.Enum(['service', 'batch', 'default', 'default-service', 'default-batch']),
    renewable: Type.Boolean(),
  }),
  internal: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

const WaitingLogin = Type.Object({
  /** Uuid of the mount. */
  mount: Type.String(),
  /** Request path of the login. */
  path: Type.String(),
  /** '' where the method knows no entity. */
  entity_id: Type.String(),
  auth: HeldAuth,
  /** Milliseconds since the epoch: when it is forgotten. */
  due: Type.Number(),
});
export type WaitingLogin = Static<typeof WaitingLogin>;

/** Milliseconds that a login waits. */
const WAIT = 300_000;

/** Logins that wait for a second factor, by a digest of the request id. There is no token until it is proven. */
export class WaitingLogins {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #records: DueRecords<WaitingLogin>;

  constructor(parts: { readonly store: Store; readonly clock: Clock }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#records = new DueRecords({ ...parts, kind: 'login', records: new Records('core/mfa/login/', WaitingLogin) });
  }

  /** Returns the request id, by which the caller goes on. */
  hold(
    tx: StoreTransaction,
    login: { readonly mount: string; readonly path: string; readonly entityId: string; readonly auth: IssuedAuth },
  ): string {
    const requestId = randomUUID();
    const { displayName, policies, metadata, terms, internal } = login.auth;
    this.#records.create(tx, digestOf(requestId), {
      mount: login.mount,
      path: login.path,
      entity_id: login.entityId,
      auth: {
        displayName,
        policies: [...policies],
        metadata: { ...metadata },
        terms: { ...terms, boundCidrs: [...terms.boundCidrs] },
        ...(internal ? { internal: { ...internal } } : {}),
      },
      due: this.#clock.millis() + WAIT,
    });
    return requestId;
  }

  /** Undefined for an id that is unknown, used or too old. */
  async get(requestId: string, tx?: StoreTransaction): Promise<WaitingLogin | undefined> {
    const login = await this.#records.get(digestOf(requestId), tx);
    return login && login.due > this.#clock.millis() ? login : undefined;
  }

  /** The login goes on: nobody else can. */
  remove(tx: StoreTransaction, requestId: string, login: WaitingLogin): void {
    this.#records.remove(tx, digestOf(requestId), login);
  }

  /** The schedule: nobody proved it in time. */
  async run(entry: DueEntry): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const login = await this.#records.get(entry.id, tx);
      if (login?.due === entry.at) this.#records.remove(tx, entry.id, login);
      else realign(tx, entry, login?.due);
    });
  }
}

function digestOf(requestId: string): string {
  return createHash('sha256').update(requestId).digest('hex');
}
