import { BadRequest, decodeValue, type FieldKind } from '@strongroom/engine-sdk';

/** As an operator tunes a login method; times in seconds. What is absent or 0 has its default. */
export interface UserLockoutConfig {
  readonly lockout_threshold?: number;
  readonly lockout_duration?: number;
  readonly lockout_counter_reset?: number;
  readonly lockout_disable?: boolean;
}

/** What the lockout needs of a mount; its stored record fits. */
export interface LockoutMount {
  readonly accessor: string;
  readonly type: string;
  readonly config: { readonly user_lockout_config?: UserLockoutConfig };
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

const TYPES: readonly string[] = ['ldap', 'userpass', 'approle'];
const THRESHOLD = 5;
const QUARTER_HOUR = 15 * 60;

/** undefined where names are not locked. */
export function lockoutSettings(mount: LockoutMount): LockoutSettings | undefined {
  const config = mount.config.user_lockout_config;
  if (!TYPES.includes(mount.type) || config?.lockout_disable === true) return undefined;
  return {
    threshold: config?.lockout_threshold || THRESHOLD,
    duration: (config?.lockout_duration || QUARTER_HOUR) * 1000,
    counterReset: (config?.lockout_counter_reset || QUARTER_HOUR) * 1000,
  };
}

const FIELDS: Readonly<Record<keyof UserLockoutConfig, FieldKind>> = {
  lockout_threshold: 'int',
  lockout_duration: 'duration',
  lockout_counter_reset: 'duration',
  lockout_disable: 'bool',
};

/**
 * What a mount or tune call makes of `user_lockout_config`: only what is sent changes.
 * @throws BadRequest naming the field; also for a mount type whose logins are not counted.
 */
export function mergeLockoutConfig(stored: UserLockoutConfig | undefined, sent: unknown, mountType: string): UserLockoutConfig {
  if (!TYPES.includes(mountType)) {
    throw new BadRequest(`tuning of user lockout configuration for auth type ${JSON.stringify(mountType)} not allowed`);
  }
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw new BadRequest('field "user_lockout_config" must be an object');
  const merged: Record<string, unknown> = { ...stored };
  for (const [key, kind] of Object.entries(FIELDS)) {
    if (!Object.hasOwn(sent, key)) continue;
    let value: unknown;
    try {
      value = decodeValue(kind, (sent as Record<string, unknown>)[key]);
    } catch (error) {
      throw new BadRequest(`field "user_lockout_config.${key}": ${(error as Error).message}`);
    }
    if (value === undefined) delete merged[key];
    else if (typeof value === 'number' && value < 0) throw new BadRequest(`field "user_lockout_config.${key}" cannot be negative`);
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
