/** The path of a document for a declared pattern. What operators chose as the path of a mount is encoded: braces in it are no parameters. */
export function templateOf(prefix: string, pattern: string): string {
  return `/${prefix.split('/').map(encodeURIComponent).join('/')}${pattern.replace(/\{(\w+):\w+\}/g, '{$1}')}`;
}

/** Names of operations for generated clients, each given once: `read-sys-mounts-path`. */
export class OperationIds {
  readonly #given = new Set<string>();

  of(verb: string, template: string): string {
    const id = `${verb}-${template.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')}`;
    let unique = id;
    for (let number = 2; this.#given.has(unique); number += 1) unique = `${id}-${number}`;
    this.#given.add(unique);
    return unique;
  }
}
