/** The doors of a building, as the keypads beside them know their codes. To the secrets server they are an outside system. */
export class Doors {
  readonly #codes = new Map<string, Set<string>>();

  constructor(names: readonly string[]) {
    for (const name of names) this.#codes.set(name, new Set());
  }

  /** @throws Error when there is no such door. */
  allow(door: string, code: string): void {
    const codes = this.#codes.get(door);
    if (!codes) throw new Error(`there is no door ${JSON.stringify(door)}`);
    codes.add(code);
  }

  /** A door or a code that is not there is forbidden already. */
  forbid(door: string, code: string): void {
    this.#codes.get(door)?.delete(code);
  }

  opens(door: string, code: string): boolean {
    return this.#codes.get(door)?.has(code) ?? false;
  }
}
