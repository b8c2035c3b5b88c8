import type { DestinationLimits } from '@strongroom/sync-sdk';

/** Of 15 tags that a secret may have, two are ours. */
const CUSTOM_TAGS = 13;

/** Key Vault's own: https://learn.microsoft.com/azure/key-vault/general/service-limits */
export const AZURE_KV_LIMITS: DestinationLimits = {
  name: {
    pattern: /[0-9a-zA-Z-]+/,
    maxLength: 127,
    rule: 'letters, digits and "-", at most 127 characters',
    caseSensitive: false,
    normalize: (rendered) => rendered.replaceAll(/[^0-9a-zA-Z-]/gu, '-'),
  },
  valueMaxBytes: 25 * 1024,
  emptyValue: true,
  tags: {
    maxCount: CUSTOM_TAGS,
    key: /^[^]{1,256}$/,
    value: /^[^]{0,256}$/,
    rule: 'keys have 1 to 256 characters, and values at most 256',
  },
  // A vault allows 4,000 calls in 10 seconds, for all its users together.
  pace: { perSecond: 50, burst: 50 },
};
