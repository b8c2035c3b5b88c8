/** Text as a literal. `N`, for letters of any script. */
export function literal(text: string): string {
  return `N'${text.replaceAll("'", "''")}'`;
}

/** A name as an identifier. */
export function identifier(name: string): string {
  return `[${name.replaceAll(']', ']]')}]`;
}
