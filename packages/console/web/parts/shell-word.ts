/** A text as one word of a POSIX shell: what is copied into a terminal does what it shows, whatever a name holds. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
