import { createHash } from 'node:crypto';
import { BadRequest, type Clock, type Decoded, type Op } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import { isLive, leaseRecords } from '../services/leases/lease-record.ts';
import { repeatRecords, type RepeatOrder } from '../services/leases/repeats.ts';
import type { Store } from '../kernel/storage/store.ts';
import { digestOfToken, type Call } from './call.ts';
import { emptyResponse, type CoreResponse } from '../kernel/call/core-response.ts';
import { lastUseRefusal } from './issuing.ts';

const LONGEST_KEY = 255;
const PARAMETER = 'idempotency_key';

/** Calls with an idempotency key: the same caller that repeats one gets the same credential and lease while that lives. */
export class RepeatedCalls {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Calls under way in this process, by digest: who comes later waits for the outcome of who came first. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(parts: { store: Store; clock: Clock }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
  }

  /** Undefined without a key, and for operations that know none. @throws BadRequest for a key that cannot be used */
  orderOf(call: Call, op: Op<TProperties, TSchema>, fields: Decoded): RepeatOrder | undefined {
    if (!op.oncePerKey) return undefined;
    const { [PARAMETER]: parameter, ...rest } = fields.data;
    const key = keyOf(call.request.headers?.['idempotency-key'], parameter);
    if (key === undefined) return undefined;
    const caller = call.identity?.entityId || digestOfToken(call);
    if (caller === '') return undefined;
    const sorted = Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1));
    return { digest: digestOf([call.mount!.uuid, call.path, caller, key]), parameters: digestOf(sorted) };
  }

  /** The answer that the key has had; else `make`'s, which undefined tells that another process was faster. */
  async once(call: Call, order: RepeatOrder, make: () => Promise<CoreResponse | undefined>): Promise<CoreResponse> {
    for (;;) {
      const found = await this.#answerOf(call, order);
      if (found) return found;
      const first = this.#underWay.get(order.digest);
      if (first) {
        // What became of it is seen in storage; where it failed, this call makes its own try.
        await first.catch(() => undefined);
        continue;
      }
      const work = make();
      this.#underWay.set(order.digest, work);
      try {
        const made = await work;
        if (made) return made;
      } finally {
        this.#underWay.delete(order.digest);
      }
    }
  }

  async #answerOf(call: Call, { digest, parameters }: RepeatOrder): Promise<CoreResponse | undefined> {
    const held = await repeatRecords.get(this.#store, digest);
    if (!held) return undefined;
    const now = this.#clock.millis();
    const lease = await leaseRecords.get(this.#store, held.lease);
    if (!isLive(lease, now)) return undefined;
    if (held.parameters !== parameters) {
      throw new BadRequest(`${PARAMETER}: this key was used for a call with other parameters; use another key`);
    }
    if (call.lastUse) throw lastUseRefusal();
    return {
      ...emptyResponse(call.id, 200),
      data: held.data as CoreResponse['data'],
      leaseId: held.lease,
      leaseDuration: Math.ceil((lease.expires - now) / 1_000),
      renewable: lease.renewable,
      warnings: held.warnings,
    };
  }
}

function keyOf(header: string | readonly string[] | undefined, parameter: unknown): string | undefined {
  const keys = [...(header === undefined ? [] : [header].flat()), ...(parameter === undefined ? [] : [String(parameter)])];
  const [key] = keys;
  if (key === undefined) return undefined;
  if (keys.some((other) => other !== key)) throw new BadRequest(`${PARAMETER}: the parameter and the header Idempotency-Key differ`);
  if (key === '' || key.length > LONGEST_KEY) throw new BadRequest(`${PARAMETER}: a key has 1 to ${LONGEST_KEY} characters`);
  return key;
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}
