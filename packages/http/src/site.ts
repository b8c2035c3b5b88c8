import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { AnswerWriter } from './answer-writer.ts';

/** What a server answers outside the API. */
export interface SiteOptions {
  /** Serves the pages below `/ui/`; `request.url` is without that prefix. Without it there are none. */
  readonly ui?: RequestHandler;
  /** Answers `GET /metrics`; without it there is no such page. */
  readonly metrics?: RequestHandler;
  /** Sent with every answer that is made here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Told of what a handler threw. Requests outside the API have no id. */
  readonly onFault?: (error: unknown, requestId?: string) => void;
}

/** What browsers may do with our pages. */
const UI_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self'; style-src 'unsafe-inline' 'self'; form-action  'none'; frame-ancestors 'none'; font-src 'self'",
  'Service-Worker-Allowed': '/',
  'X-Content-Type-Options': 'nosniff',
};

/** Everything of a server that is not the API: the way to the pages, robots.txt, metrics, and 404 for the rest. */
export function siteApp({ ui, metrics, headers, onFault }: SiteOptions = {}): Express {
  const writer = new AnswerWriter(headers);
  const toPages: RequestHandler = (_request, response) => {
    writer.send(response, 307, 'text/html; charset=utf-8', '<a href="/ui/">Temporary Redirect</a>.\n', ['Location', '/ui/']);
  };
  const app = express();
  app.disable('x-powered-by');
  app.enable('strict routing');
  app.get('/', toPages);
  app.get('/ui', toPages);
  app.get('/robots.txt', (_request, response) => {
    writer.send(response, 200, 'text/plain; charset=utf-8', 'User-agent: *\nDisallow: /\n');
  });
  if (metrics) app.get('/metrics', metrics);
  if (ui) {
    app.use(
      '/ui',
      (_request, response, next) => {
        response.set(UI_HEADERS);
        next();
      },
      ui,
    );
  }
  app.use((_request, response) => {
    writer.errors(response, 404, []);
  });
  const refuse: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
    const status = (error as { status?: unknown } | null)?.status;
    const known = typeof status === 'number' && status >= 400 && status < 500;
    if (!known) onFault?.(error);
    if (response.headersSent) response.destroy();
    else writer.errors(response, known ? status : 500, [known ? (error as Error).message : 'internal error']);
  };
  app.use(refuse);
  return app;
}
