import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Routes that are ours alone, below `/v1/`. */
const OURS = [
  /^sys\/internal\/ui\/(attention|job|metrics|config|login-methods|search)/,
  /^sys\/(nodes|schedule|journal|circuits|events|sync)(\/|$)/,
  /^sys\/leases\/(totals|histogram|expiring|tree|failing|requeue)/,
  /^sys\/policies\/(explain|check|who)/,
  /^sys\/locked-users\/.*\/locked/,
  /^(?!sys\/).*\/(failing|orphans|preview|config\/test|status)(\/|$)/,
];

/** A server of the same API that has none of our own routes: it passes on everything else. */
export class OtherServer {
  readonly #server: Server;
  /** Below `/v1/`, what was asked of ours, as often as it was. */
  readonly refused: string[] = [];

  private constructor(target: string) {
    this.#server = createServer((incoming, answer) => {
      const path = (incoming.url ?? '').split('?')[0]!.replace(/^\/v1\//, '');
      if (incoming.url!.startsWith('/v1/') && OURS.some((pattern) => pattern.test(path))) {
        this.refused.push(path);
        answer.writeHead(404, { 'Content-Type': 'application/json' });
        answer.end(JSON.stringify({ errors: ['1 error occurred:\n\t* unsupported path\n\n'] }));
        return;
      }
      const { host: _host, ...headers } = incoming.headers;
      const passed = request(`${target}${incoming.url}`, { method: incoming.method, headers }, (came) => {
        answer.writeHead(came.statusCode!, came.headers);
        came.pipe(answer);
      });
      passed.on('error', () => answer.destroy());
      answer.on('close', () => passed.destroy());
      incoming.pipe(passed);
    });
  }

  static async before(target: string): Promise<OtherServer> {
    const other = new OtherServer(target);
    await new Promise<void>((resolve) => void other.#server.listen(0, '127.0.0.1', resolve));
    return other;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
