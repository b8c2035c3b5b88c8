import { readdirSync, readFileSync } from 'node:fs';

const PAGES = new URL('../../web/pages/', import.meta.url);

/** The pattern of every page, as the routes of the areas list them. */
export function pagePatterns(): string[] {
  return readdirSync(PAGES).flatMap((area) => {
    const routes = readFileSync(new URL(`${area}/routes.ts`, PAGES), 'utf8');
    return [...routes.matchAll(/\bpage\(\s*'([^']+)'/g)].map(([, pattern]) => pattern!);
  });
}
