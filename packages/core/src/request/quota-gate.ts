import { EngineError } from '@strongroom/engine-sdk';
import { merged } from '../services/leases/lease-store.ts';
import type { LeaseRoom } from '../services/quotas/lease-caps.ts';
import type { QuotaSubject } from '../services/quotas/quota-scope.ts';
import type { Quotas } from '../services/quotas/quotas.ts';
import { RateLimitExceeded } from '../services/quotas/rate-limits.ts';
import type { CoreResponse } from '../kernel/call/core-response.ts';
import type { Mount } from '../kernel/mounts/mount.ts';
import type { Call } from './call.ts';
import { decode } from './decoding.ts';

/** Reserves room for a lease or token. @throws LeaseCountExceeded */
export type RoomFor = () => Promise<void>;

const NO_BOUND: RoomFor = async () => {};

/** Holds requests to their quotas. */
export class QuotaGate {
  readonly #quotas: Quotas;
  /** Paths that are always open have a mount of their own; quotas know it as `sys/`. */
  readonly #system: () => Mount | undefined;

  constructor(quotas: Quotas, system: () => Mount | undefined) {
    this.#quotas = quotas;
    this.#system = system;
  }

  /** Whether any rule limits how many requests may come. */
  get limitsRates(): boolean {
    return !this.#quotas.rates.rules.empty;
  }

  /** After routing, before anybody is asked who they are: requests with a wrong token count too. @throws RateLimitExceeded */
  async enter(call: Call): Promise<void> {
    const { rates } = this.#quotas;
    const subject = await this.#subject(call, rates.rules.asksRole(call.mount?.uuid ?? ''));
    call.headers = rates.count(subject, call.path, call.remoteAddress);
  }

  /** Whether audit devices get a refusal. */
  audits(failure: unknown): boolean {
    return !(failure instanceof RateLimitExceeded) || this.#quotas.rates.settings.auditsRefusals;
  }

  /**
   * Runs work that may get a lease or token. It asks `room` before it stores one; with `early` the room is reserved before the work begins.
   * @throws LeaseCountExceeded
   */
  leaseFor(call: Call, early: boolean, work: (room: RoomFor) => Promise<CoreResponse | undefined>): Promise<CoreResponse | undefined> {
    return this.#quotas.leases.rules.empty ? work(NO_BOUND) : this.#withRoom(call, early, work);
  }

  async #withRoom(
    call: Call,
    early: boolean,
    work: (room: RoomFor) => Promise<CoreResponse | undefined>,
  ): Promise<CoreResponse | undefined> {
    const { leases } = this.#quotas;
    let reserved: LeaseRoom | undefined;
    const room = async (): Promise<void> => {
      reserved ??= await leases.reserve(await this.#subject(call, leases.rules.asksRole(call.mount?.uuid ?? '')));
    };
    if (early) await room();
    let issued = false;
    try {
      const answer = await work(room);
      issued = answer !== undefined && (answer.leaseId !== '' || storesToken(answer.auth));
      return issued && reserved ? { ...answer!, warnings: merged(answer!.warnings, reserved.warnings) } : answer;
    } finally {
      if (issued) reserved?.settle();
      else reserved?.release();
    }
  }

  /** What the path declares as its role, if a rule asks for it. A body that says none, or something odd, has none. */
  async #subject(call: Call, asksRole: boolean): Promise<QuotaSubject> {
    const { rest } = call;
    const mount = call.mount?.path === 'sys/' ? this.#system() : call.mount;
    const role = asksRole ? call.match?.path.declaration.about.role : undefined;
    if (!role || !mount) return { mount: mount?.uuid, rest, role: '' };
    const decoded = decode(call);
    const asked = decoded instanceof EngineError ? undefined : await mount.run(async () => role(decoded.data, mount.storage));
    return { mount: mount.uuid, rest, role: typeof asked === 'string' ? asked.toLowerCase() : '' };
  }
}

/** Batch tokens are stored nowhere, and a login that waits for a second factor has no token. */
function storesToken(auth: CoreResponse['auth']): boolean {
  return (auth?.client_token ?? '') !== '' && auth?.token_type !== 'batch';
}
