import { merged } from '../services/leases/lease-store.ts';
import type { LeaseRoom } from '../services/quotas/lease-caps.ts';
import type { QuotaSubject } from '../services/quotas/quota-scope.ts';
import type { Quotas } from '../services/quotas/quotas.ts';
import { RateLimitExceeded } from '../services/quotas/rate-limits.ts';
import type { CoreResponse } from '../kernel/call/core-response.ts';
import type { Mount } from '../kernel/mounts/mount.ts';
import type { Call } from './call.ts';

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

  /** After routing, before anybody is asked who they are: requests with a wrong token count too. @throws RateLimitExceeded */
  async enter(call: Call): Promise<void> {
    const { rates } = this.#quotas;
    if (rates.rules.empty) return;
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
  async leaseFor(
    call: Call,
    early: boolean,
    work: (room: RoomFor) => Promise<CoreResponse | undefined>,
  ): Promise<CoreResponse | undefined> {
    const { leases } = this.#quotas;
    if (leases.rules.empty) return work(NO_BOUND);
    let reserved: LeaseRoom | undefined;
    const room = async (): Promise<void> => {
      reserved ??= await leases.reserve(await this.#subject(call, leases.rules.asksRole(call.mount?.uuid ?? '')));
    };
    if (early) await room();
    let issued = false;
    try {
      const answer = await work(room);
      issued = answer !== undefined && (answer.leaseId !== '' || (answer.auth?.client_token ?? '') !== '');
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
    // What a body makes the function throw is refused by the login itself.
    const asked = role && mount && (await mount.run(async () => role(call.data, mount.storage)).catch(() => undefined));
    return { mount: mount?.uuid, rest, role: typeof asked === 'string' ? asked.toLowerCase() : '' };
  }
}
