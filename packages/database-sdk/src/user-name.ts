/**
 * A display or role name fitted to stand in a generated user name: every run of characters that some database gives a meaning of its own
 * (quotes, blanks, `;`, `\`, `/`, control characters …) becomes one `-`. Letters and digits of any script, `_ . @ + = : -` stay.
 * Hosts pass what callers chose through this before they render a `username_template`; escaping in statements is the second wall.
 */
export function safeNamePart(text: string): string {
  return text.replace(/[^\p{L}\p{N}_.@+=:-]+/gu, '-');
}
