import type { MaybePromise } from '../../kernel/storage/maybe-promise.ts';
import { Timing } from './timing.ts';

/** What requests are timed by, whatever they were answered. */
export const TIMED = ['request', 'login', 'check_token', 'audit_request', 'audit_response'] as const;
/** What is timed of requests, or within them. */
export type Timed = (typeof TIMED)[number];

/** More mounts than this are timed together, so that metrics stay bounded. */
const MOST_ROUTES = 1_000;

/** What one mount did for one operation. */
export interface RouteTiming {
  /** Uuid; '' for the mounts beyond the first thousand. */
  readonly mount: string;
  readonly operation: string;
  readonly timing: Timing;
}

/** What is known of a request that was answered. */
export interface TimedRequest {
  readonly operation: string;
  /** Uuid; absent where no mount was found. */
  readonly mount: string | undefined;
  readonly login: boolean;
  readonly status: number;
  readonly millis: number;
}

/** How long requests take, by what they are and by the mount that they are for. In memory: they begin at 0 with the process. */
export class RequestTimings {
  readonly #timed = new Map<Timed, Timing>(TIMED.map((name) => [name, new Timing()]));
  readonly #routes = new Map<string, Map<string, Timing>>();
  readonly #denied = new Map<string, number>();

  of(name: Timed): Timing {
    return this.#timed.get(name)!;
  }

  answered({ operation, mount, login, status, millis }: TimedRequest): void {
    this.of(login ? 'login' : 'request').add(millis);
    if (mount === undefined) return;
    const key = this.#routes.has(mount) || this.#routes.size < MOST_ROUTES ? mount : '';
    let route = this.#routes.get(key);
    if (!route) this.#routes.set(key, (route = new Map<string, Timing>()));
    let timing = route.get(operation);
    if (!timing) route.set(operation, (timing = new Timing()));
    timing.add(millis);
    if (status === 403) this.#denied.set(key, (this.#denied.get(key) ?? 0) + 1);
  }

  /** Gives what the work gives, and counts its time also where it fails. */
  time<T>(name: Timed, work: () => MaybePromise<T>): MaybePromise<T> {
    const began = performance.now();
    let running: MaybePromise<T> | undefined;
    try {
      running = work();
      if (running instanceof Promise) {
        const ended = (): void => this.of(name).add(performance.now() - began);
        void running.then(ended, ended);
      }
      return running;
    } finally {
      if (!(running instanceof Promise)) this.of(name).add(performance.now() - began);
    }
  }

  routes(): RouteTiming[] {
    return [...this.#routes].flatMap(([mount, route]) => [...route].map(([operation, timing]) => ({ mount, operation, timing })));
  }

  /** Requests that were refused with 403, by the uuid of the mount. */
  get denied(): ReadonlyMap<string, number> {
    return this.#denied;
  }

  /** The mount is gone. */
  forgetMount(mount: string): void {
    this.#routes.delete(mount);
    this.#denied.delete(mount);
  }
}
