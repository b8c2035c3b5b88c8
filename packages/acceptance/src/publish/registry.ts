import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What `npm publish` sends: the package's document, with the tarball as an attachment. */
interface Published {
  readonly name: string;
  readonly versions: Readonly<Record<string, Manifest>>;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** A package.json as npm publishes it. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A version of a package as it was published. */
export interface Release {
  readonly manifest: Manifest;
  readonly tarball: Buffer;
}

/** An npm registry on a free loopback port, in memory: it takes what is published, and has nothing else. */
export class Registry {
  readonly #releases = new Map<string, Release>();
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Without the scheme, as names of npm's settings have it: `127.0.0.1:4873/`. */
  get place(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  get url(): string {
    return `http://${this.place}`;
  }

  /** What was published, by name. */
  get releases(): ReadonlyMap<string, Release> {
    return this.#releases;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url!, this.url);
    const [name = '', tarball] = decodeURIComponent(pathname.slice(1)).split('/-/');
    if (request.method === 'PUT') {
      this.#publish(JSON.parse(await textOf(request)) as Published);
      response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const release = this.#releases.get(name);
    if (!release) response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
    else if (tarball !== undefined) response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(release.tarball);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.#document(release.manifest)));
  }

  #publish({ name, versions, _attachments }: Published): void {
    const [manifest] = Object.values(versions);
    const [attachment] = Object.values(_attachments);
    if (!manifest || !attachment) throw new Error(`${name} was published without a version or a tarball`);
    this.#releases.set(name, { manifest, tarball: Buffer.from(attachment.data, 'base64') });
  }

  #document(manifest: Manifest): object {
    const { name, version } = manifest;
    const dist = { tarball: `${this.url}${name}/-/${version}.tgz` };
    return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}
