import { ConfigurationInvalid } from '@strongroom/database-sdk';
import { parseDuration } from '@strongroom/engine-sdk';

export interface PoolSettings {
  readonly maxOpen: number;
  readonly maxIdle: number;
  /** 0: connections are reused for ever. */
  readonly lifetimeMs: number;
}

/** The fields of a connection that limit its pool; `sqlConnectionFields` has them. */
export interface PoolFields {
  readonly max_open_connections?: number;
  readonly max_idle_connections?: number;
  readonly max_connection_lifetime?: string | number;
}

const DEFAULT_MAX_OPEN = 4;

/**
 * What the parameters of a connection mean: by default 4 connections, all of which may be idle, and no limit of their age.
 * @throws ConfigurationInvalid
 */
export function poolSettings(config: PoolFields): PoolSettings {
  const maxOpen = config.max_open_connections || DEFAULT_MAX_OPEN;
  return {
    maxOpen,
    maxIdle: Math.min(config.max_idle_connections || maxOpen, maxOpen),
    lifetimeMs: seconds(config.max_connection_lifetime ?? 0) * 1_000,
  };
}

function seconds(lifetime: string | number): number {
  try {
    return Math.max(0, parseDuration(lifetime));
  } catch {
    throw new ConfigurationInvalid('max_connection_lifetime must be a duration, such as "30m"');
  }
}
