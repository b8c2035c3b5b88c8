/** A configuration that cannot be used. The message holds every complaint, a line each. */
export class ConfigurationInvalid extends Error {
  override readonly name = 'ConfigurationInvalid';
  readonly complaints: readonly string[];

  constructor(complaints: readonly string[]) {
    const count = complaints.length === 1 ? '' : ` (${complaints.length} complaints)`;
    super(`the configuration cannot be used${count}:\n${complaints.map((complaint) => `  ${complaint}`).join('\n')}`);
    this.complaints = complaints;
  }
}

/** Where something stands: `server.hcl:12`, or the file alone where lines are not known. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

export function placeText({ file, line }: Place): string {
  return line > 0 ? `${file}:${line}` : file;
}

/** Gathers everything that is wrong, and what is accepted without effect. */
export class Complaints {
  readonly #complaints: { place: Place; text: string }[] = [];
  readonly #notices: string[] = [];

  add(place: Place, text: string): void {
    this.#complaints.push({ place, text });
  }

  notice(place: Place, text: string): void {
    this.#notices.push(`${placeText(place)}: ${text}`);
  }

  get notices(): readonly string[] {
    return this.#notices;
  }

  /** @throws ConfigurationInvalid when there was anything to complain about, in the order of the files */
  done(): void {
    if (this.#complaints.length === 0) return;
    const files = [...new Set(this.#complaints.map(({ place }) => place.file))];
    const sorted = this.#complaints.toSorted(
      (a, b) => files.indexOf(a.place.file) - files.indexOf(b.place.file) || a.place.line - b.place.line,
    );
    throw new ConfigurationInvalid(sorted.map(({ place, text }) => `${placeText(place)}: ${text}`));
  }
}
