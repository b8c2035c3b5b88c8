import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a collector gets it, with its attributes by name. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface SentSpan extends Omit<CollectedSpan, 'attributes' | 'failed'> {
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status?: { readonly code?: number };
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: Pick<SentSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

/** Takes spans over OTLP by HTTP, as a collector does. A test decides how it answers. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  resource: Readonly<Record<string, unknown>> = {};
  headers: IncomingHttpHeaders = {};
  /** All that was sent, as text. */
  text = '';
  respond: (response: ServerResponse) => void = (response) => void response.setHeader('Content-Type', 'application/json').end('{}');
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        this.headers = request.headers;
        this.text += body;
        for (const { resource, scopeSpans } of (JSON.parse(body) as Sent).resourceSpans) {
          this.resource = attributesOf(resource);
          for (const span of scopeSpans.flatMap(({ spans }) => spans))
            this.spans.push({ ...span, attributes: attributesOf(span), failed: span.status?.code === 2 });
        }
        this.respond(response);
      });
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/traces`;
  }

  /** The names of a span and, indented, of those below it, in the order in which they began. */
  tree(name: string): string[] {
    const below = (span: CollectedSpan, depth: number): string[] => [
      '  '.repeat(depth) + span.name,
      ...this.spans.filter(({ parentSpanId }) => parentSpanId === span.spanId).flatMap((child) => below(child, depth + 1)),
    ];
    const root = this.spans.find((span) => span.name === name);
    return root ? below(root, 0) : [];
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function attributesOf({ attributes }: Pick<SentSpan, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
