/** What is left out, and why, is part of the proof, so it is printed. */
export function tellLeftOut(plugin: string, name: string, reason: string): void {
  process.stderr.write(`${plugin}: skipped "${name}": ${reason}\n`);
}
