/** A run of characters that a template makes and nobody chose one by one. */
export interface CharacterClass {
  /** Whether one character can be part of the run. */
  has(char: string): boolean;
  /** Whether a whole run can be what the template made. */
  fits?(run: string, now: number): boolean;
  /** Characters that a cryptographic source chose: what tells our names from others'. */
  readonly random?: boolean;
}

const ofPattern = (pattern: RegExp): ((char: string) => boolean) => {
  return (char) => pattern.test(char);
};

/** What callers and operators chose, as `safeNamePart` leaves it. */
export const namePart: CharacterClass = { has: ofPattern(/^[\p{L}\p{N}_.@+=:-]$/u) };

/** Names that people choose are rarely mixed; of 9 random letters and digits, 1 in 2,000 runs is of one kind alone. */
export const randomText: CharacterClass = {
  random: true,
  has: ofPattern(/^[A-Za-z0-9]$/),
  fits: (run) => run.length < 8 || [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(run)).length >= 2,
};

export const hexText: CharacterClass = { random: true, has: ofPattern(/^[0-9a-f]$/) };
export const uuidText: CharacterClass = {
  random: true,
  has: ofPattern(/^[0-9a-f-]$/),
  fits: (run) => run.length < 36 || /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(run),
};
/** Of what a caller chose: it repeats, and so tells nothing. */
export const encodedText: CharacterClass = { has: ofPattern(/^[A-Za-z0-9+/=]$/) };

const digit = ofPattern(/^\d$/);
/** Before this program was written no user of ours was made. Seconds. */
const FIRST_USER = 1_500_000_000;
const DAY = 86_400;

/** `unix_time`: neither long ago nor in the future. */
export const unixSeconds: CharacterClass = {
  has: digit,
  fits: (run, now) => run.length < 10 || (Number(run) >= FIRST_USER && Number(run) <= now / 1_000 + DAY),
};
export const unixMillis: CharacterClass = {
  has: digit,
  fits: (run, now) => run.length < 13 || (Number(run) >= FIRST_USER * 1_000 && Number(run) <= now + DAY * 1_000),
};
/** Of a formatted time. */
export const dateText: CharacterClass = { has: ofPattern(/^[\p{L}\p{N} .,:+-]$/u) };

/** The class after its characters were mapped one by one. Its own rule for whole runs no longer holds. */
export function mappedClass(base: CharacterClass, inverse: (char: string) => readonly string[]): CharacterClass {
  return { has: (char) => inverse(char).some((original) => base.has(original)), ...(base.random ? { random: true } : {}) };
}
