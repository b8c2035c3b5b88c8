import type { DestinationLimits } from '@strongroom/sync-sdk';
import type { AwsSsmConnection } from './connection.ts';

const LEVELS = 15;
const SEGMENT = String.raw`[A-Za-z0-9_.-]+`;
/** A name alone, or a path of at most 15 levels, which begins with a slash. AWS keeps what begins with `aws` and `ssm` for itself, in any case. */
const NAME = new RegExp(String.raw`(?!\/?(?:[Aa][Ww][Ss]|[Ss][Ss][Mm]))(?:${SEGMENT}|(?:\/${SEGMENT}){1,${LEVELS}})`);

/** https://docs.aws.amazon.com/general/latest/gr/ssm.html, and the reference of PutParameter. An emulator may check less. */
export function limitsOf({ tier }: Pick<AwsSsmConnection, 'tier'>): DestinationLimits {
  return {
    name: {
      pattern: NAME,
      maxLength: 1_011,
      rule: `letters, digits and any of "_.-" in at most ${LEVELS} levels after a "/" each, at most 1,011 characters, and does not begin with "aws" or "ssm"`,
      caseSensitive: true,
      normalize: (rendered) => {
        const clean = rendered
          .replaceAll(/[^A-Za-z0-9_./-]/g, '-')
          .replaceAll(/\/{2,}/g, '/')
          .replace(/\/$/, '');
        return clean.includes('/') && !clean.startsWith('/') ? `/${clean}` : clean;
      },
    },
    valueMaxBytes: tier === 'Standard' ? 4_096 : 8_192,
    emptyValue: false,
    // 50 in all, of which three are our own.
    tags: {
      maxCount: 47,
      key: /^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/iu,
      value: /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$/u,
      rule: 'keys of at most 128 and values of at most 256 letters, digits, blanks and any of "_.:/=+-@"; keys do not begin with "aws:"',
    },
    // PutParameter: three a second for an account and region, and a destination makes up to four calls for a secret.
    pace: { perSecond: 8, burst: 12 },
  };
}
