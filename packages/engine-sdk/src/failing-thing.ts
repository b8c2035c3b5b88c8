/** What a job, a lease or an outside system is to a person. Contains no secret. */
export interface Subject {
  /** What it is, in a word or two: `static role`, `root credential`, `association`. */
  readonly noun: string;
  /** Its name, as operators know it. */
  readonly name: string;
  /** Its path below the mount: `static-roles/reports`. A caller who may read this path, or `failing` of the mount, learns that the thing fails. */
  readonly path: string;
  /** The path below the mount whose update tries again now: `rotate-role/reports`. Absent if there is none. */
  readonly retry?: string;
}

/**
 * Something of a mount that does not work, or is not as it should be, and needs a person, beside the jobs that fail, which the core knows. It is shown where operators see what needs
 * them. Contains no secret.
 */
export interface FailingThing extends Subject {
  /** `drift`: nothing fails, but what exists outside is not what should. Absent: it fails. */
  readonly kind?: 'drift';
  /** Why, in a sentence. */
  readonly message: string;
  readonly since?: Date;
  /** Failed tries since the last success. */
  readonly attempts?: number;
  readonly nextAttempt?: Date;
  /** The outside system that it fails at, as leases, intents and schedules name it: what fails at one system for one reason is shown together. */
  readonly target?: string;
}
