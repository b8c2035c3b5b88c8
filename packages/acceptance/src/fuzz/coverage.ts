const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Which operations of a document were reached, and which of them did what was asked. */
export class Coverage {
  readonly #operations: { readonly name: string; readonly method: string; readonly strict: RegExp; readonly wide: RegExp }[];
  readonly #reached = new Set<string>();
  readonly #succeeded = new Set<string>();

  constructor(document: Readonly<Record<string, unknown>>) {
    // A path of fixed words goes before one that takes any.
    const paths = Object.entries(document['paths'] as Record<string, object>).sort(([a], [b]) => parameters(a) - parameters(b));
    this.#operations = paths.flatMap(([path, item]) => {
      const [strict, wide] = ['[^/]+', '.+'].map((any) => new RegExp(`^/v1${path.replace(/\{\w+\}/g, any)}$`)) as [RegExp, RegExp];
      return METHODS.filter((method) => method in item).map((method) => ({ name: `${method} ${path}`, method, strict, wide }));
    });
  }

  answered(method: string, target: string, status: number): void {
    const path = target.replace(/[?].*$/s, '');
    const asked = method.toLowerCase();
    const candidates = this.#operations.filter((one) => one.method === asked);
    const operation = candidates.find(({ strict }) => strict.test(path)) ?? candidates.find(({ wide }) => wide.test(path));
    if (!operation) return;
    this.#reached.add(operation.name);
    if (status < 300) this.#succeeded.add(operation.name);
  }

  get operations(): number {
    return this.#operations.length;
  }

  get reached(): number {
    return this.#reached.size;
  }

  get succeeded(): number {
    return this.#succeeded.size;
  }

  /** Operations that never did what was asked. */
  refused(): string[] {
    return this.#operations.map(({ name }) => name).filter((name) => !this.#succeeded.has(name));
  }
}

function parameters(path: string): number {
  return path.split('{').length;
}
