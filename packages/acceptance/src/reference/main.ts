import { fileURLToPath } from 'node:url';
import { writeReference } from './reference.ts';

await writeReference(fileURLToPath(new URL('../../../../docs/reference', import.meta.url)));
