import { startStallingProxy, type StallingProxy, startTcpProxy, type TcpProxy } from '@strongroom/lab';
import type { OpensearchConnection } from '../../src/index.ts';

/** In a statement: keeps it from the server. */
export const KEPT_BACK = 'kept-back';

/** An OpenSearch to test against, real or a double. */
export interface StartedServer {
  readonly host: string;
  readonly port: number;
  readonly superuser: string;
  readonly password: string;
  stop(): Promise<void>;
}

/** The one server of a suite, by itself and behind a proxy that keeps statements back and can break connections. */
export class TestedServer {
  readonly #start: () => Promise<StartedServer>;
  server!: StartedServer;
  #proxy!: StallingProxy;
  #line!: TcpProxy;

  constructor(start: () => Promise<StartedServer>) {
    this.#start = start;
  }

  async start(): Promise<void> {
    this.server = await this.#start();
    this.#line = await startTcpProxy(this.server.port);
    this.#proxy = await startStallingProxy({ host: '127.0.0.1', port: this.#line.port }, KEPT_BACK);
  }

  async stop(): Promise<void> {
    await this.#proxy?.close();
    await this.#line?.stop();
    await this.server?.stop();
  }

  /** For clients of the proxy it is as if the server had been restarted. */
  async breakConnections(): Promise<void> {
    this.#line.cut();
  }

  /** Through the proxy. */
  config(): OpensearchConnection {
    return { url: `http://127.0.0.1:${this.#proxy.port}`, username: this.server.superuser, password: this.server.password };
  }

  /** One call past the plugin; rejects with the server's words. `path` is below `/_plugins/_security`. */
  async ask(
    [username, password]: readonly [string, string],
    path: string,
    init: { readonly method?: string; readonly body?: string } = {},
  ): Promise<Record<string, unknown>> {
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const response = await fetch(`http://${this.server.host}:${this.server.port}/_plugins/_security${path}`, {
      ...init,
      headers: { authorization, 'content-type': 'application/json' },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }
}
