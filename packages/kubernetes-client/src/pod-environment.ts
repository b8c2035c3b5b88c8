const NAMES = ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT_HTTPS'] as const;

/** The variables by which a pod knows the API server of its cluster. */
export class PodEnvironment {
  readonly #variables: Readonly<Record<string, string | undefined>>;

  constructor(variables: Readonly<Record<string, string | undefined>>) {
    this.#variables = variables;
  }

  /** Those that are not set. */
  missing(): string[] {
    return NAMES.filter((name) => !this.#variables[name]);
  }

  /** The URL of the API server; undefined outside a pod. */
  host(): string | undefined {
    const [host, port] = NAMES.map((name) => this.#variables[name]);
    if (!host || !port) return undefined;
    return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }
}
