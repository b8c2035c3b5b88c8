import type { DestinationLimits, NameLimits } from '@strongroom/sync-sdk';

const SEGMENT = String.raw`(?!\.(?:/|$))(?:(?!\.\.)[\p{L}\p{M}\p{N}._~@:+=-])+`;

/** A path of a secret, of a mount, or of an auth method. Servers refuse "..", and some refuse blanks and signs. */
export const PATH: NameLimits = {
  pattern: new RegExp(`${SEGMENT}(?:/${SEGMENT})*`, 'u'),
  maxLength: 512,
  rule: 'a path of letters, digits and any of "._~@:+=-" with "/" between its parts, without "..", at most 512 characters',
  caseSensitive: true,
  normalize: (rendered) =>
    rendered
      .normalize('NFC')
      .replaceAll(/[^\p{L}\p{M}\p{N}._~@:+=/-]/gu, '-')
      .replaceAll(/\.{2,}/g, '.')
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/'),
};

/** Keys of `custom_metadata` that this destination sets itself: owner, origin and the tag of synced secrets. */
export const OWN_METADATA = 3;

/** https://developer.hashicorp.com/vault/docs/internals/limits, and the validation of custom metadata. */
export const VAULT_LIMITS: DestinationLimits = {
  name: PATH,
  keys: { pattern: /[^\p{Cc}]+/u, maxLength: 512, rule: 'at most 512 characters, and none of them a control character' },
  valueMaxBytes: 524_288,
  emptyValue: true,
  tags: {
    maxCount: 64 - OWN_METADATA,
    key: /^(?!hashicorp$|strongroom-)[\x20-\x7e]{1,128}$/,
    value: /^[\x20-\x7e]{1,512}$/,
    rule: 'custom metadata has keys of 1 to 128 and values of 1 to 512 printable characters; hashicorp and strongroom-… are set by this server',
  },
  // A change is a look, sometimes a write of metadata, and a write.
  pace: { perSecond: 50, burst: 100 },
};

/** Keys of one secret that servers take in one body. */
export const MOST_KEYS = 10_000;
