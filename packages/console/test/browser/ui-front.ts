import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { consoleFiles } from '@strongroom/console';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; " +
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Serves the pages with their content security policy, and passes on everything else. */
export class UiFront {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(behind: string): Promise<UiFront> {
    const files = consoleFiles();
    const server = createServer((incoming, outgoing) => {
      const path = incoming.url!.split('?')[0]!;
      if (path.startsWith('/ui/')) {
        const file = files.get(path.slice(4)) ?? (path.startsWith('/ui/assets/') ? undefined : files.get('index.html'));
        if (!file) return void outgoing.writeHead(404).end();
        return void outgoing.writeHead(200, { 'Content-Type': file.type, 'Content-Security-Policy': POLICY }).end(file.identity);
      }
      const to = request(
        `${behind}${incoming.url!}`,
        { method: incoming.method ?? 'GET', headers: incoming.headers, agent: false },
        (answer) => {
          outgoing.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(outgoing);
        },
      );
      to.once('error', () => outgoing.destroy());
      incoming.pipe(to);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new UiFront(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
