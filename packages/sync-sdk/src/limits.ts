/** What a provider takes. All of it is checked by the host before anything is sent. */
export interface DestinationLimits {
  readonly name: NameLimits;
  /** Bytes of the value in UTF-8; where there are `keys`, of the texts of all keys together. */
  readonly valueMaxBytes: number;
  /** Where a secret of the provider holds several texts by key: what it takes as a key. `put` then gets `fields`. */
  readonly keys?: KeyLimits;
  /** False where the provider refuses, or silently drops, an empty value. */
  readonly emptyValue: boolean;
  /** The most secrets that the place holds, whoever wrote them. */
  readonly maxCount?: number;
  /** Where `options.customTags`: what the provider allows in them, after those that the plugin sets itself are taken off. */
  readonly tags?: TagLimits;
  readonly pace: Pace;
}

/** What the provider takes as the name of a secret. */
export interface NameLimits {
  /** Matches the whole name. */
  readonly pattern: RegExp;
  readonly maxLength: number;
  /** The rule in words, for messages: `letters, digits and "-", at most 127 characters`. */
  readonly rule: string;
  /** False where names that differ in case alone are one name. */
  readonly caseSensitive: boolean;
  /**
   * Brings a rendered name into the provider's alphabet (`secret/a_b` → `secret-a-b`). Pure and idempotent. It need not shorten: a name that
   * still does not fit is refused with the rule.
   */
  normalize(rendered: string): string;
}

/** What the provider takes as a key within a secret. */
export interface KeyLimits {
  /** Matches the whole key. */
  readonly pattern: RegExp;
  readonly maxLength: number;
  /** The rule in words, for messages. */
  readonly rule: string;
}

/** What the provider takes as tags. */
export interface TagLimits {
  readonly maxCount: number;
  readonly key: RegExp;
  readonly value: RegExp;
  /** The rule in words, for messages. */
  readonly rule: string;
}

/** A token bucket: calls of a session per second on average, and at once. */
export interface Pace {
  readonly perSecond: number;
  readonly burst: number;
}

/** What is wrong with a name, or with a key, in words that follow it; undefined if it fits. */
export function nameComplaint(limits: Pick<NameLimits, 'pattern' | 'maxLength' | 'rule'>, name: string): string | undefined {
  const fits = [...name].length <= limits.maxLength && new RegExp(`^(?:${limits.pattern.source})$`, limits.pattern.flags).test(name);
  return fits ? undefined : `must be ${limits.rule}`;
}

/** What is wrong with the tags, naming the first that does not fit; undefined if they fit. */
export function tagsComplaint(limits: TagLimits, tags: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(tags);
  if (entries.length > limits.maxCount) return `has ${entries.length} tags, and at most ${limits.maxCount} are possible`;
  const wrong = entries.find(([key, value]) => !limits.key.test(key) || !limits.value.test(value));
  return wrong === undefined ? undefined : `has a tag "${wrong[0]}" that does not fit: ${limits.rule}`;
}
