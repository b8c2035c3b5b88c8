import { existsSync, readFileSync } from 'node:fs';
import { areasOf, markdownOf } from '../.vitepress/operations.js';

const DOCUMENT = new URL('../../.strongroom/openapi.json', import.meta.url);

/** A page for each mount of the OpenAPI document, which `npm run docs` writes first. */
export default {
  paths() {
    if (!existsSync(DOCUMENT)) throw new Error('no OpenAPI document: run npm run docs');
    const areas = areasOf(JSON.parse(readFileSync(DOCUMENT, 'utf8')));
    return [...areas].map(([area, operations]) => ({ params: { area }, content: markdownOf(area, operations) }));
  },
};
