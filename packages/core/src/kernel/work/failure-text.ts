/** What is kept of a failure: the text alone, cut so that a record stays small. */
export function failureText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
