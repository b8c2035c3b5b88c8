/** What names a user, a database or a host as a rule. A value with other characters may hold a password that a wrong separator has put there. */
const NAME = /^[\p{L}\p{N}_.-]*$/u;
const PATH = /^[\p{L}\p{N}_./-]*$/u;

/** Of a name that may be shown, for a message that says why another one is not. */
export const NAME_CHARACTERS = 'letters, digits, "_", "." and "-"';

/** Whether a part of the connection URL may be shown: it can hold nothing but a name. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** The path or the name of a host, unless it may hold more. */
export function shown(text: string): string {
  return PATH.test(text) ? text : '[redacted]';
}
