import type { DestinationLimits } from '@strongroom/sync-sdk';

const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const PREFIX = String.raw`${LABEL}(?:\.${LABEL})*`;
const WORD = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names, and the validation of Secrets. */
export const KUBERNETES_LIMITS: DestinationLimits = {
  name: {
    pattern: new RegExp(PREFIX),
    maxLength: 253,
    rule: 'lower-case letters, digits, "-" and ".", with a letter or digit at both ends and beside each ".", at most 253 characters',
    caseSensitive: true,
    normalize: (rendered) =>
      rendered
        .toLowerCase()
        .replaceAll(/[^a-z0-9.-]/gu, '-')
        .replaceAll(/[.-]*\.[.-]*/g, '.')
        .replaceAll(/^[.-]+|[.-]+$/g, ''),
  },
  keys: {
    pattern: /(?!\.\.)(?!\.$)[-._A-Za-z0-9]+/,
    maxLength: 253,
    rule: 'at most 253 letters, digits and any of "-._", and not begin with "..": Kubernetes takes no other keys',
  },
  valueMaxBytes: 1_048_576,
  emptyValue: true,
  tags: {
    // Labels and annotations of an object have no limit of their number, only one of their size.
    maxCount: 50,
    key: new RegExp(String.raw`^(?!app\.kubernetes\.io/managed-by$|hashicorp$|strongroom\.io/)(?:(?=[^/]{1,253}/)${PREFIX}/)?${WORD}$`),
    value: new RegExp(`^(?:${WORD})?$`),
    rule:
      'labels have keys such as team or example.com/team and values of at most 63 letters, digits and any of "-_.", with a letter or digit at both ends; ' +
      'app.kubernetes.io/managed-by, hashicorp and strongroom.io/ are set by this server',
  },
  // A change is a look and a write.
  pace: { perSecond: 20, burst: 40 },
};
