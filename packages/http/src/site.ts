import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { AnswerWriter } from './answer-writer.ts';
import type { PageFiles } from './page-file.ts';
import { pagesRouter, type PageHeaderSource } from './pages-router.ts';

/** What a server answers outside the API. */
export interface SiteOptions {
  /** The files of a console, served below `/ui/`. Without them there is none. */
  readonly pages?: PageFiles;
  /** Sent with the pages, as they are at that moment. */
  readonly pageHeaders?: PageHeaderSource;
  /** What a request below `/ui/` is answered with, beside 404, where there are no pages; nothing by default. */
  readonly noPages?: string;
  /** Answers `GET /metrics`; without it there is no such page. */
  readonly metrics?: RequestHandler;
  /** Sent with every answer that is made here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Told of what a handler threw. Requests outside the API have no id. */
  readonly onFault?: (error: unknown, requestId?: string) => void;
}

/** Everything of a server that is not the API: the way to the pages, robots.txt, metrics, and 404 for the rest. */
export function siteApp({ pages, pageHeaders, noPages, metrics, headers, onFault }: SiteOptions = {}): Express {
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
  if (pages) app.use('/ui', pagesRouter(pages, { ...(headers ? { headers } : {}), ...(pageHeaders ? { pageHeaders } : {}) }));
  else if (noPages !== undefined) {
    app.use('/ui', (_request, response) => {
      writer.errors(response, 404, [noPages]);
    });
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
