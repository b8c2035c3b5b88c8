import { listed, type Clock } from '@strongroom/engine-sdk';
import { matchingStep, stepAt, withFailure, withUse } from '@strongroom/otp';
import type { StoreTransaction } from '../../kernel/storage/store.ts';
import type { MfaSecret } from '../identity/mfa-secrets.ts';
import type { RequiredFactor } from './login-enforcements.ts';
import { codeFor, suppliedFor, type MfaCredentials } from './mfa-credentials.ts';
import type { TotpMethod } from './mfa-settings.ts';
import type { IdentityWithin } from './totp-secrets.ts';

/** What a login has to prove, and what its caller supplies for it. */
export interface Proof {
  /** '' where the method knows no entity. */
  readonly entityId: string;
  readonly required: readonly RequiredFactor[];
  readonly credentials: MfaCredentials;
}

/** Compares codes with the secrets of an entity. What was used and what was wrong is in the store, so that all servers count together. */
export class SecondFactors {
  readonly #clock: Clock;
  readonly #within: IdentityWithin;

  constructor(parts: { readonly clock: Clock; readonly within: IdentityWithin }) {
    this.#clock = parts.clock;
    this.#within = parts.within;
  }

  /**
   * Undefined if all is proven: the codes are used then. Otherwise why not: only wrong codes count. Either way the transaction is to be committed, and the
   * commit that makes the token is the same.
   */
  async prove(tx: StoreTransaction, { entityId, required, credentials }: Proof): Promise<string | undefined> {
    const records = this.#within(tx).mfaSecrets;
    const secrets = entityId === '' ? [] : ((await records.get(entityId))?.secrets ?? []);
    const attempts = new Attempts(secrets, entityId, credentials, this.#clock.millis());
    let refusal: string | undefined;
    for (const factor of required) refusal ??= unmet(factor, attempts);
    const after = attempts.counted(refusal === undefined);
    if (after) await records.put(entityId, { secrets: after });
    return refusal;
  }
}

/** Why the enforcement is not met; undefined if it is. */
function unmet({ enforcement, methods }: RequiredFactor, attempts: Attempts): string | undefined {
  const because = (problem: string): string => `failed to satisfy enforcement ${enforcement.name}. error: ${problem}`;
  const supplied = methods.filter((method) => suppliedFor(attempts.credentials, method) !== undefined);
  if (supplied.length === 0) {
    const missing = methods.map(
      ({ id, name }) => `failed to find MFA credentials associated with an MFA method ID ${id}, method name ${name}`,
    );
    return because(`failed to sanitize MFA creds, ${listed(...missing)}`);
  }
  const problems: string[] = [];
  for (const method of supplied) {
    const problem = attempts.problemOf(method);
    if (problem === undefined) return undefined;
    problems.push(problem);
  }
  return because(listed(...problems, `login MFA validation failed for methodID: [${enforcement.mfa_method_ids.join(' ')}]`));
}

type Attempt = { readonly step: number } | { readonly problem: string; readonly wrongFor?: TotpMethod };

/** The methods tried in one proof, each once: one code may meet several enforcements. */
class Attempts {
  readonly credentials: MfaCredentials;
  readonly #secrets: readonly MfaSecret[];
  readonly #entityId: string;
  readonly #now: number;
  readonly #made = new Map<string, Attempt>();

  constructor(secrets: readonly MfaSecret[], entityId: string, credentials: MfaCredentials, now: number) {
    this.#secrets = secrets;
    this.#entityId = entityId;
    this.credentials = credentials;
    this.#now = now;
  }

  /** Undefined where the code is right. */
  problemOf(method: TotpMethod): string | undefined {
    const attempt = this.#made.get(method.id) ?? this.#attempt(method);
    this.#made.set(method.id, attempt);
    return 'problem' in attempt ? attempt.problem : undefined;
  }

  /** The secrets with what was tried: wrong codes always, used ones only if `proven`. Undefined where nothing changed. */
  counted(proven: boolean): MfaSecret[] | undefined {
    let changed = false;
    const after = this.#secrets.map((secret) => {
      const attempt = this.#made.get(secret.method_id);
      const next = attempt && this.#outcome(secret, attempt, proven);
      changed ||= next !== undefined;
      return next ?? secret;
    });
    return changed ? after : undefined;
  }

  #attempt(method: TotpMethod): Attempt {
    const secret = this.#secrets.find(({ method_id }) => method_id === method.id);
    if (!secret) {
      return { problem: `MFA secret for method ID ${JSON.stringify(method.id)} not present in entity ${JSON.stringify(this.#entityId)}` };
    }
    const { paused_until = 0, used_steps } = secret;
    if (paused_until > this.#now) return { problem: pausedText(method, paused_until - this.#now) };
    const code = codeFor(this.credentials, method);
    if (code === undefined || code === '') return { problem: INCORRECT };
    const step = matchingStep(Buffer.from(secret.key, 'base64'), code, { ...secret, millis: this.#now, skew: method.skew });
    if (step === undefined) return { problem: INCORRECT, wrongFor: method };
    if (!used_steps.includes(step)) return { step };
    const next = (stepAt(this.#now, secret) + 1) * secret.period * 1_000 - this.#now;
    return { problem: `code already used; a new code is available in ${secondsOf(next)}` };
  }

  #outcome(secret: MfaSecret, attempt: Attempt, proven: boolean): MfaSecret | undefined {
    if ('step' in attempt) return proven ? withUse(secret, attempt.step) : undefined;
    return attempt.wrongFor && withFailure(secret, attempt.wrongFor.max_validation_attempts, this.#now);
  }
}

const INCORRECT = 'MFA credentials not supplied or incorrect';

function pausedText({ max_validation_attempts: allowed }: TotpMethod, left: number): string {
  return `maximum TOTP validation attempts ${allowed + 1} exceeded the allowed attempts ${allowed}. Please try again in ${secondsOf(left)}`;
}

function secondsOf(millis: number): string {
  return `${Math.ceil(millis / 1_000)} seconds`;
}
