import type { JsonLimits } from '@strongroom/engine-sdk';

/** What one request may cost. */
export interface BodyLimits extends JsonLimits {
  /** Bytes of the body. */
  readonly maxBytes: number;
  /** Milliseconds in which the body must arrive. */
  readonly timeout: number;
}

/** What a request costs at most before its caller is known. Every value may have a key. */
export const UNKNOWN_CALLER: BodyLimits = { maxBytes: 1024 * 1024, maxDepth: 16, maxStrings: 20_000, maxValues: 10_000, timeout: 10_000 };

/** What one of a caller with a valid token costs at most, where the options say nothing else. */
export const KNOWN_CALLER: BodyLimits = {
  maxBytes: 32 * 1024 * 1024,
  maxDepth: 500,
  maxStrings: 100_000,
  maxValues: 500_000,
  timeout: 90_000,
};

/** The lower of both, limit by limit. */
export function lower(one: BodyLimits, other: BodyLimits): BodyLimits {
  return {
    maxBytes: Math.min(one.maxBytes, other.maxBytes),
    maxDepth: Math.min(one.maxDepth, other.maxDepth),
    maxStrings: Math.min(one.maxStrings, other.maxStrings),
    maxValues: Math.min(one.maxValues, other.maxValues),
    timeout: Math.min(one.timeout, other.timeout),
  };
}
