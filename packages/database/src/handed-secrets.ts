import { foreignText, thrownText, type Secrets } from '@strongroom/engine-sdk';

/** How many passwords are recognized, over all connections of the process. */
const MOST = 2_000;
/** Stands between a label and its number: a character for private use. */
const MARK = '\ue000';

/**
 * Every secret that plugins of this process were given. What leaks out of a plugin after its call may hold that of any call and, where plugins are recognized by
 * the place of their code, of any connection.
 */
export class HandedSecrets {
  readonly #texts = new Map<string, string>();
  readonly #most: number;
  #forgot = false;

  constructor(most: number = MOST) {
    this.#most = most;
  }

  add(secrets: Secrets): void {
    for (const [label, text] of Object.entries(secrets)) {
      if (!text) continue;
      // What was seen last is forgotten last.
      this.#texts.delete(text);
      this.#texts.set(text, label);
    }
    for (const text of this.#texts.keys()) {
      if (this.#texts.size <= this.#most) break;
      this.#texts.delete(text);
      this.#forgot = true;
    }
  }

  /** The text of something that leaked, as callers may read it. Where secrets were forgotten that it may hold, the text is withheld. */
  leakedText(error: unknown): string {
    if (this.#forgot) return `${kindOf(error)} (its text is withheld, since it may hold a password)`;
    const numbered = [...this.#texts].map(([text, label], index) => [`${label}${MARK}${index}`, text] as const);
    return foreignText(thrownText(error), Object.fromEntries(numbered)).replace(new RegExp(`${MARK}\\d+\\]`, 'g'), ']');
  }
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'something that is no error';
  // Of what somebody else made, only what looks like the name of a class or a code.
  const said = [error.name, (error as { code?: unknown }).code].find((text) => typeof text === 'string' && /^[A-Za-z]\w{0,39}$/.test(text));
  return typeof said === 'string' ? said : 'an error';
}

export const handedSecrets = new HandedSecrets();
