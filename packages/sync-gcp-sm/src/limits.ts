import type { DestinationLimits } from '@strongroom/sync-sdk';

/** Of 64 labels that a secret may have, two are ours. */
const CUSTOM_LABELS = 62;

/** Secret Manager's own: https://cloud.google.com/secret-manager/quotas */
export const GCP_SM_LIMITS: DestinationLimits = {
  name: {
    pattern: /[A-Za-z0-9_-]+/,
    maxLength: 255,
    rule: 'letters, digits, "_" and "-", at most 255 characters',
    caseSensitive: true,
    normalize: (rendered) => rendered.replaceAll(/[^A-Za-z0-9_-]/gu, '-'),
  },
  valueMaxBytes: 64 * 1024,
  emptyValue: false,
  tags: {
    maxCount: CUSTOM_LABELS,
    key: /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u,
    value: /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u,
    rule: 'labels hold lower-case letters, digits, "_" and "-", at most 63, and keys begin with a letter',
  },
  // A project allows 600 reads and 600 writes a minute. A look reads twice, and a write reads once and writes once or twice.
  pace: { perSecond: 5, burst: 60 },
};
