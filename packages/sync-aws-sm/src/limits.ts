import type { DestinationLimits } from '@strongroom/sync-sdk';

/** https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_limits.html */
export const LIMITS: DestinationLimits = {
  name: {
    pattern: /[A-Za-z0-9/_+=.@-]+/,
    maxLength: 512,
    rule: 'letters, digits and any of "/_+=.@-", at most 512 characters',
    caseSensitive: true,
    normalize: (rendered) => rendered.replaceAll(/[^A-Za-z0-9/_+=.@-]/g, '-'),
  },
  valueMaxBytes: 65_536,
  emptyValue: false,
  // 50 in all, of which two are our own.
  tags: {
    maxCount: 48,
    key: /^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/iu,
    value: /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$/u,
    rule: 'keys of at most 128 and values of at most 256 letters, digits, blanks and any of "_.:/=+-@"; keys do not begin with "aws:"',
  },
  // Creating, changing and deleting secrets: 50 a second for an account and region.
  pace: { perSecond: 40, burst: 40 },
};
