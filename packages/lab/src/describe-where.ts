/** What jest's `describe` is to the functions here; the servers must load outside jest as well, where there is none. */
interface Describe {
  (title: string, body: () => void): void;
  skip(title: string, body: () => void): void;
}

/** `describe` for tests that need something of the machine: where it is missing they are skipped, and the title and a warning say why. */
export function describeWhere(missing: string | undefined, title: string, body: () => void): void {
  const { describe } = globalThis as unknown as { describe: Describe };
  if (missing === undefined) return describe(title, body);
  process.emitWarning(`SKIPPED: ${title}: ${missing}`);
  describe.skip(`${title} (skipped: ${missing})`, body);
}
