import { durationSetting } from '@strongroom/database-sdk';

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
    lifetimeMs: Math.max(0, durationSetting('max_connection_lifetime', config.max_connection_lifetime ?? 0, '30m')) * 1_000,
  };
}
