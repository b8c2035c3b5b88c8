import type { DestinationLimits } from '@strongroom/sync-sdk';

const LONGEST_NAME = 256;
/** What the names and values of all variables of a deployment may hold together. */
const ROOM = 64 * 1024;

/** https://vercel.com/docs/environment-variables */
export const VERCEL_LIMITS: DestinationLimits = {
  name: {
    pattern: /(?!VERCEL_)[A-Za-z_][A-Za-z0-9_]*/,
    maxLength: LONGEST_NAME,
    rule: `letters, digits and "_", at most ${LONGEST_NAME} characters, not begin with a digit, and not with VERCEL_`,
    caseSensitive: true,
    normalize: (rendered) => rendered.replaceAll(/[^A-Za-z0-9_]/gu, '_').replace(/^(?=\d)/, '_'),
  },
  valueMaxBytes: ROOM - LONGEST_NAME,
  emptyValue: true,
  maxCount: 1000,
  pace: { perSecond: 2, burst: 20 },
};
