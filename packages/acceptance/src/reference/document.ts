import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { servedDocument } from './served-mounts.ts';

/** Writes the OpenAPI document of a server with everything mounted, for the documentation's pages of the API. */
const folder = new URL('../../../../.strongroom/', import.meta.url);
await mkdir(folder, { recursive: true });
await writeFile(fileURLToPath(new URL('openapi.json', folder)), await servedDocument());
