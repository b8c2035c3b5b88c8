/** `text` without the beginning of a secret at its end: for what a server has quoted and cut. `secrets` by label, each in all the ways it may stand there. */
export function redactCut(text: string, secrets: Readonly<Record<string, readonly string[]>>): string {
  for (const [label, forms] of Object.entries(secrets)) {
    for (const form of forms) {
      for (let length = Math.min(form.length, text.length); length > 0; length--) {
        if (text.endsWith(form.slice(0, length))) return `${text.slice(0, -length)}[${label}]`;
      }
    }
  }
  return text;
}
