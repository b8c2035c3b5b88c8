import { BadRequest, decodeValue, type FieldKind } from '@strongroom/engine-sdk';

/** As an operator tunes a login method; times in seconds. What is absent or 0 has its default. */
export interface UserLockoutConfig {
  readonly lockout_threshold?: number;
  readonly lockout_duration?: number;
  readonly lockout_counter_reset?: number;
  readonly lockout_disable?: boolean;
}

/** What the lockout needs of a mount whose logins it counts; its stored record fits. */
export interface LockoutMount {
  readonly accessor: string;
  readonly type: string;
  readonly config: { readonly user_lockout_config?: UserLockoutConfig };
}

/** What the server's configuration says. What a mount is tuned to wins over that of its type, and that over `all`. */
export interface LockoutDefaults {
  /** Nothing is counted, whatever a mount is tuned to. */
  readonly disabled?: boolean;
  readonly all?: UserLockoutConfig;
  /** By mount type. */
  readonly types?: ReadonlyMap<string, UserLockoutConfig>;
}

/** In effect on one mount; times in milliseconds. */
export interface LockoutSettings {
  /** Refused logins in a row until the lock. */
  readonly threshold: number;
  /** How long it lasts. */
  readonly duration: number;
  /** A refused login this long after the one before counts as the first. */
  readonly counterReset: number;
}

const THRESHOLD = 5;
const QUARTER_HOUR = 15 * 60;

/** undefined where names are not locked. */
export function lockoutSettings(mount: LockoutMount, defaults: LockoutDefaults = {}): LockoutSettings | undefined {
  const layers = [mount.config.user_lockout_config, defaults.types?.get(mount.type), defaults.all];
  const disabled = layers.find((layer) => layer?.lockout_disable !== undefined)?.lockout_disable;
  if (defaults.disabled === true || disabled === true) return undefined;
  const first = (key: 'lockout_threshold' | 'lockout_duration' | 'lockout_counter_reset', fallback: number): number =>
    layers.map((layer) => layer?.[key]).find((value) => value !== undefined && value > 0) ?? fallback;
  return {
    threshold: first('lockout_threshold', THRESHOLD),
    duration: first('lockout_duration', QUARTER_HOUR) * 1000,
    counterReset: first('lockout_counter_reset', QUARTER_HOUR) * 1000,
  };
}

/** As callers name them; command lines send the longer name of the reset. */
export const LOCKOUT_FIELDS: Readonly<Record<string, readonly [keyof UserLockoutConfig, FieldKind]>> = {
  lockout_threshold: ['lockout_threshold', 'int'],
  lockout_duration: ['lockout_duration', 'duration'],
  lockout_counter_reset: ['lockout_counter_reset', 'duration'],
  lockout_counter_reset_duration: ['lockout_counter_reset', 'duration'],
  lockout_disable: ['lockout_disable', 'bool'],
};

/** @throws BadRequest for a lockout that is tuned on a mount whose logins are not counted */
export function requireCountedLogins(
  mount: { readonly type: string; readonly countsLogins: boolean },
  config: UserLockoutConfig | undefined,
): void {
  if (config === undefined || mount.countsLogins) return;
  throw new BadRequest(`tuning of user lockout configuration for auth type ${JSON.stringify(mount.type)} not allowed`);
}

/** What a mount or tune call makes of `user_lockout_config`: only what is sent changes. @throws BadRequest naming the field */
export function mergeLockoutConfig(stored: UserLockoutConfig | undefined, sent: unknown): UserLockoutConfig {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw new BadRequest('field "user_lockout_config" must be an object');
  const merged: Record<string, unknown> = { ...stored };
  for (const [name, [key, kind]] of Object.entries(LOCKOUT_FIELDS)) {
    if (!Object.hasOwn(sent, name)) continue;
    let value: unknown;
    try {
      value = decodeValue(kind, (sent as Record<string, unknown>)[name]);
    } catch (error) {
      throw new BadRequest(`field "user_lockout_config.${name}": ${(error as Error).message}`);
    }
    if (value === undefined) delete merged[key];
    else if (typeof value === 'number' && value < 0) throw new BadRequest(`field "user_lockout_config.${name}" cannot be negative`);
    else merged[key] = value;
  }
  return merged as UserLockoutConfig;
}

/** The keys that a read of the tuning shows beside the others; none where nothing was tuned. */
export function lockoutTuning(config: UserLockoutConfig | undefined): Record<string, number | boolean> {
  if (config === undefined) return {};
  return {
    user_lockout_counter_threshold: config.lockout_threshold ?? 0,
    user_lockout_duration: config.lockout_duration ?? 0,
    user_lockout_counter_reset_duration: config.lockout_counter_reset ?? 0,
    user_lockout_disable: config.lockout_disable ?? false,
  };
}
